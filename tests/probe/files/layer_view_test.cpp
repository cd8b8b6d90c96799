// Layers of a tree, as the two common loaders take them: Debian 12's ocl-icd 2.3.1 reads
// OPENCL_LAYERS alone (its file holds no other name, and strace shows no other file); the Khronos
// loader reads folders as well.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "probe/files/file_view.h"
#include "probe/files/layer_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/report/report.h"
#include "tests/boards.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoaderInView loader(LoaderKind kind) {
  LoaderInView found;
  found.kind = kind;
  found.reads = {"OPENCL_LAYERS"};
  if (kind == LoaderKind::kKhronos) found.reads.insert("OPENCL_LAYER_PATH");
  return found;
}

std::vector<LayerInView> look(LoaderKind kind, const std::map<std::string, std::string>& variables,
                              const test::Tree& more = {}) {
  const test::Tree tree = {{"/bin/sh", test::elf("plain")},
                           {"/opt/good.so", test::elf("layer")},
                           {"/opt/driver.so", test::elf("vendor")},
                           {"/etc/OpenCL/layers/b.lay", test::text("/opt/good.so\n")},
                           {"/etc/OpenCL/layers/a.lay", test::text("/opt/gone.so\n")},
                           {"/etc/OpenCL/layers/notes.txt", test::text("/opt/gone.so\n")},
                           {"/mine/c.lay", test::text("/opt/driver.so\n")},
                           {"/mine/d.lay", test::text("\n")},
                           {"/mine/e.lay", test::link("/nowhere")}};
  const test::TempDir dir;
  test::build_tree(test::with(tree, more), dir.path());
  const auto view = view_of(dir.path());
  LinkerSetting setting = setting_of(*view);
  setting.variables = variables;
  return layers_of(*view, setting, loader(kind));
}

std::vector<std::string> states(const std::vector<LayerInView>& rows) {
  std::vector<std::string> found;
  for (const LayerInView& row : rows) found.push_back(row.state);
  return found;
}

TEST(Layers, OfTheUsualFolderAreListedByNameWithWhatStandsInTheirWay) {
  const auto found = look(LoaderKind::kKhronos, {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].from, "/etc/OpenCL/layers/a.lay");
  EXPECT_EQ(found[0].state, "broken");
  EXPECT_THAT(found[0].reason, HasSubstr("/opt/gone.so: absent"));
  EXPECT_EQ(found[1].state, "honoured");
  EXPECT_EQ(found[1].library, "/opt/good.so");
}

TEST(Layers, OfAFolderThatAVariableNamesStandInItsPlace) {
  const auto found = look(LoaderKind::kKhronos, {{"OPENCL_LAYER_PATH", "/mine"}});
  EXPECT_THAT(states(found), ElementsAre("broken", "broken", "broken"));
  EXPECT_THAT(found[0].reason, HasSubstr("it is not a layer"));
  EXPECT_THAT(found[1].reason, HasSubstr("names no library"));
  EXPECT_THAT(found[2].reason, HasSubstr("link leads to nothing"));
}

TEST(Layers, OfFoldersAreNothingToALoaderThatReadsNone) {
  const auto found = look(LoaderKind::kOclIcd, {{"OPENCL_LAYERS", "/opt/good.so:/opt/gone.so:"}});
  EXPECT_THAT(states(found), ElementsAre("ignored", "ignored", "honoured", "broken"));
  EXPECT_EQ(found[3].from, "OPENCL_LAYERS");
}

TEST(Layers, AreBoundedInNumber) {
  test::Tree many;
  for (int i = 0; i < 100; ++i)
    many["/etc/OpenCL/layers/" + std::to_string(i) + ".lay"] = test::text("/opt/good.so\n");
  EXPECT_EQ(look(LoaderKind::kKhronos, {}, many).size(), 64u);
}

}  // namespace
}  // namespace clvet
