// Libraries that no known name leads to: found by the linker's cache and the usual folders.
#include <elf.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "probe/discover/discover.h"
#include "probe/files/file_view.h"
#include "probe/files/library_search.h"
#include "probe/files/linker.h"
#include "probe/report/report.h"
#include "tests/boards.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

test::TreeEntry own(const std::string& kind) { return test::elf(kind, "", abi_name(own_abi())); }
test::TreeEntry foreign() {
  return test::elf("vendor", "", own_abi().machine == EM_RISCV ? "aarch64" : "riscv64");
}

std::vector<std::string> leftovers(const test::Tree& tree,
                                   const std::vector<CandidateReport>& tried) {
  const test::TempDir dir;
  test::build_tree(tree, dir.path());
  std::vector<std::string> names;
  for (const Candidate& row : leftover_libraries(*view_of(dir.path()), tried))
    names.push_back(row.name);
  return names;
}

CandidateReport tried(const std::string& name, const std::string& path = "") {
  CandidateReport row;
  row.name = name;
  row.path = path;
  return row;
}

TEST(Leftovers, AreOfThisProgramsAbiAndHoldOpenCl) {
  EXPECT_THAT(
      leftovers({{"/opt/vendor/lib/libmali-valhall-g610-g13p0-gbm.so", own("vendor")},
                 {"/opt/vendor/lib/libmali-nocl.so", own("egl")},
                 {"/opt/other/libmali.so", foreign()},
                 {"/usr/lib/libPVROCL.so.1", own("icd-only")},
                 {"/opt/text/libOpenCL.so", test::text("no library")}},
                {}),
      ElementsAre("/opt/vendor/lib/libmali-valhall-g610-g13p0-gbm.so", "/usr/lib/libPVROCL.so.1"));
}

TEST(Leftovers, AreOfAnyNameAndNoLayersAndNoneThatOnlyNeedOpenCl) {
  test::TreeEntry plugin = own("plain");
  plugin.needed = {"libzork.so.3"};
  EXPECT_THAT(leftovers({{"/usr/lib/libzork.so.3", own("vendor")},
                         {"/usr/lib/libforeign.so", foreign()},
                         {"/usr/lib/liblayer.so", own("layer")},
                         {"/usr/lib/libOpenCL.so.9", own("layer")},
                         {"/usr/lib/libplugin.so", plugin},
                         {"/opt/x/y/zork-driver.so", own("google")}},
                        {}),
              ElementsAre("/opt/x/y/zork-driver.so", "/usr/lib/libzork.so.3"));
}

TEST(Leftovers, AreNotWhatAKnownNameLedTo) {
  const test::Tree tree = {{"/usr/lib/libmali-g52.so", own("vendor")},
                           {"/usr/lib/libmali.so.1", test::link("libmali-g52.so")},
                           {"/opt/a/libPVROCL.so", own("vendor")},
                           {"/opt/b/libVivanteOpenCL.so", own("vendor")}};
  EXPECT_THAT(leftovers(tree, {tried("libmali.so.1"), tried("x", "/opt/a/libPVROCL.so"),
                               tried("/opt/b/libVivanteOpenCL.so")}),
              IsEmpty())
      << "by its name where it could not be loaded, else by the file that was";
}

TEST(Leftovers, AreBoundedInNumber) {
  test::Tree tree;
  for (int i = 0; i < 50; ++i) tree["/opt/v/libmali-" + std::to_string(i) + ".so"] = own("vendor");
  EXPECT_EQ(leftovers(tree, {}).size(), 32u);
}

}  // namespace
}  // namespace clvet
