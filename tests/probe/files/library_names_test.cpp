// Every row of the table of names holds wherever a name counts. A new row needs no new test.
#include "probe/files/library_names.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/files/file_view.h"
#include "probe/files/library_scan.h"
#include "probe/files/library_search.h"
#include "probe/report/report.h"
#include "tests/boards.h"
#include "tests/support.h"

namespace clvet {

void PrintTo(const LibraryName& row, std::ostream* out) { *out << row.name; }

namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::vector<LibraryName> rows() { return library_names().value_or(std::vector<LibraryName>()); }

// Where a search without variables comes upon the name; -1: it does not.
long place_of(const LibraryName& row, Origin origin) {
  static const auto list = find_candidates({}, [](const std::string& name) {
    return name == "OCL_ICD_VENDORS" ? std::optional<std::string>("/nonexistent") : std::nullopt;
  });
  const auto found = std::find_if(
      list->candidates.begin(), list->candidates.end(),
      [&](const Candidate& got) { return got.name == row.name && got.origin == origin; });
  return found == list->candidates.end() ? -1 : found - list->candidates.begin();
}

bool is_scanned(const std::string& file) {
  const test::TempDir dir;
  test::build_tree({{"/usr/lib/" + file, test::text("no library")}}, dir.path());
  return scan_libraries(*view_of(dir.path())) == std::vector<std::string>{"/usr/lib/" + file};
}

class KnownName : public testing::TestWithParam<LibraryName> {};

TEST_P(KnownName, CountsWhereverItsRowSays) {
  const LibraryName& row = GetParam();
  EXPECT_THAT(row.name, HasSubstr(".so"));
  const bool bare = row.bare && !row.icd_only;
  EXPECT_EQ(place_of(row, Origin::kLoader) >= 0, bare && row.loader);
  EXPECT_EQ(place_of(row, Origin::kKnownName) >= 0, bare && !row.loader);
  const auto paths = known_paths("aarch64-linux-gnu", 64).value();
  EXPECT_THAT(paths, row.folders ? testing::Matcher<std::vector<std::string>>(
                                       Contains("/usr/lib/aarch64-linux-gnu/" + row.name))
                                 : Each(Not(testing::EndsWith("/" + row.name))));
  EXPECT_EQ(is_scanned(row.name), !row.icd_only);
}

TEST_P(KnownName, TellsTheSameOfEachVersionOfItsFile) {
  const LibraryName& row = GetParam();
  const std::string stem = row.name.substr(0, row.name.find(".so"));
  for (const std::string& path :
       {row.name, "/usr/lib/" + row.name, stem + ".so", stem + ".so.7.1"}) {
    EXPECT_EQ(is_software(path), row.software) << path;
    EXPECT_EQ(family_of(path), row.family) << path;
    EXPECT_TRUE(library_name_of(path)) << path;
  }
  if (row.variants) {
    EXPECT_EQ(family_of(stem + "-x-y.so.1"), row.family);
    EXPECT_EQ(is_software(stem + "-x-y.so.1"), row.software);
  }
  EXPECT_FALSE(library_name_of(row.name + ".d/readme"));
  EXPECT_FALSE(library_name_of(stem));
}

INSTANTIATE_TEST_SUITE_P(LibraryNames, KnownName, testing::ValuesIn(rows()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(LibraryNames, AreThereEachOnce) {
  ASSERT_TRUE(library_names()) << library_names().error().message;
  std::set<std::string> names;
  for (const LibraryName& row : rows()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_GT(names.size(), 20u);
}

TEST(LibraryNames, TellNothingOfOtherFiles) {
  for (const char* path : {"", "/", ".so", "libzork.so.3", "libpocl-devices-basic.so", "mali.so",
                           "/opt/libmali.so/readme", "libOpenCLayer.so"}) {
    EXPECT_FALSE(library_name_of(path)) << path;
    EXPECT_FALSE(is_software(path)) << path;
    EXPECT_EQ(family_of(path), "") << path;
  }
  EXPECT_EQ(family_of("/usr/lib/libmali-bifrost-g52-g13p0-gbm.so"), "mali");
}

TEST(KnownPaths, AreThoseOfTheProcesssOwnAbi) {
  const auto wide = known_paths("aarch64-linux-gnu", 64).value();
  for (const char* path :
       {"/usr/lib/aarch64-linux-gnu/libOpenCL.so.1", "/usr/lib/aarch64-linux-gnu/mali/libmali.so.1",
        "/usr/lib64/libOpenCL.so", "/usr/local/lib/libpocl.so", "/usr/lib/libPVROCL.so.1",
        "/opt/intel/opencl/linux/compiler/lib/intel64_lin/libOpenCL.so",
        "/system/vendor/lib64/libOpenCL.so", "/system/lib64/egl/libGLES_mali.so",
        "/vendor/lib64/hw/libGLES_mali.so", "/odm/lib64/libOpenCL.so",
        "/vendor/lib64/chipsetsdk/libhvgr_v200.so", "/vendor/lib64/chipsetsdk/libEGL_impl.so",
        "/data/data/org.pocl.libs/files/lib64/libpocl.so",
        "/data/data/com.termux/files/usr/lib/libOpenCL.so",
        "/data/data/com.termux/files/usr/opt/vendor/lib/libOpenCL.so"})
    EXPECT_THAT(wide, Contains(path));
  const auto narrow = known_paths("arm-linux-gnueabihf", 32).value();
  EXPECT_THAT(narrow, Contains("/usr/lib/arm-linux-gnueabihf/libmali.so"));
  EXPECT_THAT(narrow, Contains("/system/vendor/lib/libPVROCL.so"));
  EXPECT_THAT(narrow, Contains("/data/data/org.pocl.libs/files/lib/libpocl.so"));
  EXPECT_THAT(narrow, Contains("/usr/lib32/libOpenCL.so"));
  EXPECT_THAT(narrow, testing::Each(Not(HasSubstr("lib64/"))));
  EXPECT_THAT(wide, testing::Each(Not(HasSubstr("{"))));
}

}  // namespace
}  // namespace clvet
