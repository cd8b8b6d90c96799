// Looking for libraries in trees that are large, deep or endless.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_library.h"
#include "base/result.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A tree made of words: folders with the names in them; a name that ends in "/" is a folder, one
// with "->" a link.
class MadeView : public FileSystemView {
 public:
  explicit MadeView(std::map<std::string, std::vector<std::string>> folders)
      : folders_(std::move(folders)) {}

  std::optional<FileEntry> entry(const std::string& path) const override {
    ++entries;
    const size_t slash = path.rfind('/');
    for (const std::string& row : names_in(slash == 0 ? "/" : path.substr(0, slash))) {
      const size_t arrow = row.find("->");
      if (row.substr(0, arrow) == path.substr(slash + 1) + (row.ends_with('/') ? "/" : ""))
        return row.ends_with('/') ? FileEntry{FileEntry::Kind::kFolder, 0755, {}}
               : arrow == std::string::npos
                   ? FileEntry{FileEntry::Kind::kFile, 0644, {}}
                   : FileEntry{FileEntry::Kind::kLink, 0777, row.substr(arrow + 2)};
    }
    return std::nullopt;
  }
  std::vector<ListedEntry> list(const std::string& folder) const override {
    std::vector<ListedEntry> found;
    for (std::string row : names_in(folder)) {
      ++entries;
      using Kind = FileEntry::Kind;
      const size_t arrow = row.find("->");
      const bool is_folder = row.ends_with('/');
      const Kind kind = is_folder                    ? Kind::kFolder
                        : arrow != std::string::npos ? Kind::kLink
                                                     : Kind::kFile;
      found.push_back({row.substr(0, is_folder ? row.size() - 1 : arrow), kind});
    }
    return found;
  }
  Result<std::string> text(const std::string&, size_t) const override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Result<ElfLibrary> library(const std::string&) const override {
    return fail(ErrorCode::kNotFound, "none");
  }

  mutable int entries = 0;

 protected:
  virtual const std::vector<std::string>& names_in(const std::string& folder) const {
    static const std::vector<std::string> none;
    const auto found = folders_.find(folder);
    return found == folders_.end() ? none : found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> folders_;
};

// Every folder holds ten more.
class EndlessView : public MadeView {
 public:
  EndlessView() : MadeView({}) {}

 protected:
  const std::vector<std::string>& names_in(const std::string& folder) const override {
    static const std::vector<std::string> top = {"usr/"}, usr = {"lib/"},
                                          more = {"a/", "b/", "c/", "d/", "e/",
                                                  "f/", "g/", "h/", "i/", "libOpenCL.so"};
    return folder == "/" ? top : folder == "/usr" ? usr : more;
  }
};

TEST(LibraryScan, FindsADriverBesideATreeTooLargeToBeWalked) {
  std::map<std::string, std::vector<std::string>> folders = {
      {"/", {"usr/", "opt/"}},
      {"/usr", {"lib/"}},
      {"/usr/lib", {"a_package/", "z_vendor/"}},
      {"/usr/lib/z_vendor", {"libmali.so.1"}},
      {"/opt", {"vendor/"}},
      {"/opt/vendor", {"lib/"}},
      {"/opt/vendor/lib", {"libPVROCL.so.1"}}};
  for (int i = 0; i < 300; ++i) {
    const std::string name = "part" + std::to_string(i);
    folders["/usr/lib/a_package"].push_back(name + "/");
    folders["/usr/lib/a_package/" + name].assign(300, "text.py");
  }
  EXPECT_THAT(scan_libraries(MadeView(folders)),
              ElementsAre("/opt/vendor/lib/libPVROCL.so.1", "/usr/lib/z_vendor/libmali.so.1"));
}

TEST(LibraryScan, LooksAtABoundedNumberOfEntries) {
  const EndlessView view;
  EXPECT_FALSE(scan_libraries(view).empty());
  EXPECT_GT(view.entries, 1000);
  EXPECT_LT(view.entries, 300000) << "with what following each library's links takes";
}

TEST(LibraryScan, LeavesOutFoldersThatHoldOtherThings) {
  const MadeView view({{"/", {"opt/"}},
                       {"/opt", {"include/", "lib/"}},
                       {"/opt/include", {"libOpenCL.so"}},
                       {"/opt/lib", {"libOpenCL.so"}}});
  EXPECT_THAT(scan_libraries(view), ElementsAre("/opt/lib/libOpenCL.so"));
}

TEST(LibraryScan, FollowsLinksOfLibrariesAndNotOfFolders) {
  const MadeView view({{"/", {"usr/", "lib->usr/lib"}},
                       {"/usr", {"lib/"}},
                       {"/usr/lib",
                        {"libOpenCL.so->libOpenCL.so.1", "libOpenCL.so.1", "self->/usr/lib",
                         "libmali.so->/nowhere", "libOpenCL.so.1.clvet-disabled"}}});
  EXPECT_THAT(scan_libraries(view), ElementsAre("/usr/lib/libOpenCL.so.1"));
  EXPECT_THAT(scan_libraries(MadeView({})), IsEmpty());
}

// Many libraries in one folder.
TEST(LibraryScan, GivesABoundedNumberOfLibraries) {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("libmali-" + std::to_string(i) + ".so");
  const MadeView view({{"/", {"usr/"}}, {"/usr", {"lib/"}}, {"/usr/lib", names}});
  EXPECT_EQ(scan_libraries(view).size(), 128u);
}

class ConfTree : public testing::Test {
 protected:
  ConfTree() { std::filesystem::create_directories(dir_ / "etc/ld.so.conf.d"); }
  std::vector<std::string> folders() const {
    const auto view = view_of(dir_.path());
    return library_folders(*view, {System::kLinux, {64, 183}, {}, conf_folders(*view)});
  }
  const test::TempDir dir_;
};

TEST_F(ConfTree, IsReadToItsEndThoughEachOfItsFilesIncludesAll) {
  const std::string all = "include /etc/ld.so.conf.d/*.conf\n";
  test::put(dir_ / "etc/ld.so.conf", all);
  for (int i = 0; i < 40; ++i)
    test::put(dir_ / fmt::format("etc/ld.so.conf.d/{}.conf", i), all + fmt::format("/own/{}\n", i));
  EXPECT_THAT(folders(), testing::IsSupersetOf({"/own/0", "/own/39", "/usr/lib"}));
}

TEST_F(ConfTree, AddsABoundedNumberOfFoldersBeforeTheBuiltInOnes) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += fmt::format("/own/{}\n", i);
  test::put(dir_ / "etc/ld.so.conf", text);
  EXPECT_LT(folders().size(), 200u);
  EXPECT_THAT(folders(), testing::IsSupersetOf({"/own/0", "/usr/lib/aarch64-linux-gnu", "/lib"}));
}

TEST(FileView, OpensNoDevicesAndPipes) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const auto view = view_of(dir.path());
  EXPECT_THAT(view->text("/pipe", 100).error().message, testing::HasSubstr("it is no file"));
  EXPECT_FALSE(view->library("/pipe"));
  EXPECT_FALSE(view_of("/")->text("/dev/null", 100));
}

TEST(LibraryScan, FindsAVendorsFolderThatIsALinkOnceAndStaysInsideTheTree) {
  const MadeView view({{"/", {"system/", "vendor->/system/vendor", "odm->/../../outside"}},
                       {"/system", {"vendor/"}},
                       {"/system/vendor", {"lib64/"}},
                       {"/system/vendor/lib64", {"libOpenCL.so", "round->/system"}}});
  EXPECT_THAT(scan_libraries(view), ElementsAre("/system/vendor/lib64/libOpenCL.so"));
}

}  // namespace
}  // namespace clvet
