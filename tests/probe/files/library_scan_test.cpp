// Looking for libraries in trees that are large, deep, endless or hostile.
#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_library.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/library_scan.h"
#include "tests/elf_writer.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A tree made of words: folders with the names in them; a name that ends in "/" is a folder, one
// with "->" a link. Files whose names hold "zork" export OpenCL.
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
    for (const std::string& row : names_in(folder)) {
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

  bool holds_opencl(const std::string& path) const override {
    ++looked_into;
    return path.find("zork") != std::string::npos;
  }

  mutable int entries = 0, looked_into = 0;

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

TEST(LibraryScan, FindsAVendorsFolderThatIsALinkOnceAndStaysInsideTheTree) {
  const MadeView view({{"/", {"system/", "vendor->/system/vendor", "odm->/../../outside"}},
                       {"/system", {"vendor/"}},
                       {"/system/vendor", {"lib64/"}},
                       {"/system/vendor/lib64", {"libOpenCL.so", "round->/system"}}});
  EXPECT_THAT(scan_libraries(view), ElementsAre("/system/vendor/lib64/libOpenCL.so"));
}

using Names = std::vector<std::string>;

class ScannedTree : public testing::Test {
 protected:
  Names scan() const { return scan_libraries(*view_of(dir_.path())); }
  void put(const std::string& path, const std::string& bytes) const {
    std::filesystem::create_directories(dir_.path() + folder_of(path));
    test::put(dir_.path() + path, bytes);
  }
  void put(const std::string& path, const test::ElfSpec& spec) const {
    put(path, test::write_elf(spec));
  }
  static test::ElfSpec exporting(const Names& symbols, bool gnu_hash = true) {
    test::ElfSpec spec;
    spec.symbols = symbols;
    spec.gnu_hash = gnu_hash;
    return spec;
  }
  const test::TempDir dir_;
};

TEST_F(ScannedTree, ShowsALibraryOfAnyNameByWhatItExports) {
  const std::string own = "/usr/lib/x86_64-linux-gnu/";
  put(own + "libzork.so.3", exporting({"clGetPlatformIDs", "clCreateContext"}));
  put(own + "libicd.so", exporting({"malloc", "clIcdGetPlatformIDsKHR"}, false));
  put(own + "driver.so.2.1", exporting({"clGetExtensionFunctionAddress"}));
  put("/opt/zork/lib/libpair.so", exporting({"enableOpenCL", "loadOpenCLPointer"}));
  test::ElfSpec narrow = exporting({"clGetPlatformIDs"});
  narrow.bits = 32;
  narrow.machine = EM_ARM;
  put("/usr/lib/arm-linux-gnueabihf/libzork.so.3", narrow);
  EXPECT_THAT(scan(),
              ElementsAre("/opt/zork/lib/libpair.so", "/usr/lib/arm-linux-gnueabihf/libzork.so.3",
                          own + "driver.so.2.1", own + "libicd.so", own + "libzork.so.3"));
}

TEST_F(ScannedTree, ShowsNoLibraryThatOnlyUsesOpenClOrStandsBeforeIt) {
  test::ElfSpec user = exporting({"plugin_entry"});
  user.needed = {"libOpenCL.so.1"};
  user.undefined = {"clGetPlatformIDs", "clIcdGetPlatformIDsKHR"};
  put("/usr/lib/libplugin.so", user);
  user.gnu_hash = false;
  put("/usr/lib/libplugin-too.so", user);
  put("/usr/lib/liblayer.so", exporting({"clGetLayerInfo", "clInitLayer"}));
  put("/usr/lib/libtrace.so", exporting({"clGetPlatformIDs", "clGetLayerInfo", "clInitLayer"}));
  put("/usr/lib/libtool.so",
      exporting({"clTune", "clReport", "clGetPlatformInfo", "enableOpenCL"}));
  put("/usr/lib/oclgrind/liboclgrind-rt-icd.so", exporting({"clIcdGetPlatformIDsKHR"}));
  std::filesystem::create_symlink("oclgrind/liboclgrind-rt-icd.so", dir_ / "usr/lib/libsim.so");
  EXPECT_THAT(scan(), IsEmpty());
}

TEST_F(ScannedTree, ShowsALibraryWithManyNamesOnceAndNoneByAFileThatIsNoLibrary) {
  put("/srv/vendor/driver.bin", exporting({"clGetPlatformIDs"}));
  for (const char* name : {"libzork.so", "libzork.so.3", "libother.so"})
    put(std::string("/usr/lib/") + name + ".txt", "text");
  for (const char* name : {"libzork.so", "libzork.so.3", "libother.so"})
    std::filesystem::create_symlink("/srv/vendor/driver.bin", dir_ / "usr/lib" + "/" + name);
  put("/usr/lib/plain.txt", exporting({"clGetPlatformIDs"}));
  put("/usr/lib/libzork.sorted", exporting({"clGetPlatformIDs"}));
  EXPECT_THAT(scan(), ElementsAre("/srv/vendor/driver.bin"));
}

TEST_F(ScannedTree, IsNoTrapWhateverLiesInIt) {
  const std::string whole = test::write_elf(exporting({"clGetPlatformIDs"}));
  put("/usr/lib/libempty.so", "");
  for (size_t size : {4u, 20u, 64u, 200u})
    put(fmt::format("/usr/lib/libcut{}.so", size), whole.substr(0, size));
  put("/usr/lib/lib\xFF\n'$(x)\x01.so", whole);
  std::filesystem::create_symlink("libb.so", dir_ / "usr/lib/liba.so");
  std::filesystem::create_symlink("liba.so", dir_ / "usr/lib/libb.so");
  std::filesystem::create_symlink("/dev/zero", dir_ / "usr/lib/libzero.so");
  std::filesystem::create_symlink("../../../../../../../../etc/passwd", dir_ / "usr/lib/libout.so");
  std::filesystem::create_directories(dir_ / "usr/lib/libfolder.so/deep");
  std::filesystem::create_directories(dir_ / "usr/lib/closed");
  put("/usr/lib/closed/libclosed.so", "");
  ASSERT_EQ(::chmod((dir_ / "usr/lib/closed").c_str(), 0), 0);
  ASSERT_EQ(::mkfifo((dir_ / "usr/lib/libpipe.so").c_str(), 0600), 0);
  std::filesystem::create_symlink("libpipe.so", dir_ / "usr/lib/libtopipe.so");
  EXPECT_THAT(scan(), ElementsAre("/usr/lib/lib\xFF\n'$(x)\x01.so"));
  ::chmod((dir_ / "usr/lib/closed").c_str(), 0700);
}

TEST_F(ScannedTree, TakesNoLongerForALargeFile) {
  put("/usr/lib/libmodel.so", "");
  std::filesystem::resize_file(dir_ / "usr/lib/libmodel.so", uintmax_t{1} << 33);
  put("/usr/lib/libzork.so", exporting({"clGetPlatformIDs"}));
  std::filesystem::resize_file(dir_ / "usr/lib/libzork.so", uintmax_t{1} << 33);
  EXPECT_THAT(scan(), ElementsAre("/usr/lib/libzork.so"));
}

TEST(LibraryScan, LooksIntoABoundedNumberOfLibrariesAndStillFindsADriverElsewhere) {
  std::map<std::string, Names> folders = {{"/", {"usr/", "opt/"}},
                                          {"/usr", {"lib/"}},
                                          {"/opt", {"zork/"}},
                                          {"/opt/zork", {"libzork.so"}}};
  for (int i = 0; i < 100000; ++i) folders["/usr/lib"].push_back(fmt::format("lib{}.so", i));
  const MadeView view(folders);
  EXPECT_THAT(scan_libraries(view), ElementsAre("/opt/zork/libzork.so"));
  EXPECT_GT(view.looked_into, 4000);
  EXPECT_LT(view.looked_into, 20000);
}

TEST(LibraryScan, GivesKnownNamesHoweverManyOthersExportOpenCl) {
  Names names;
  for (int i = 0; i < 3000; ++i) names.push_back(fmt::format("a_zork{}.so", i));
  names.push_back("libmali.so.1");
  const MadeView view({{"/", {"usr/"}}, {"/usr", {"lib/"}}, {"/usr/lib", names}});
  const Names found = scan_libraries(view);
  EXPECT_EQ(found.size(), 65u);
  EXPECT_THAT(found, testing::Contains("/usr/lib/libmali.so.1"));
}

}  // namespace
}  // namespace clvet
