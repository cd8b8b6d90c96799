// The linker's configuration, and what a view of files does not open.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "tests/support.h"

namespace clvet {
namespace {

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
  EXPECT_THAT(view->text("/pipe", 100).error().message,
              testing::HasSubstr("it is not a regular file"));
  EXPECT_FALSE(view->library("/pipe"));
  EXPECT_FALSE(view_of("/")->text("/dev/null", 100));
}

}  // namespace
}  // namespace clvet
