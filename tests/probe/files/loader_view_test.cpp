// Loaders told apart by their files, and what variables do to each.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/report/report.h"
#include "tests/boards.h"
#include "tests/json_fields.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// The strings by which the loaders' files are known, as `strings` shows them.
std::string strings_of(const std::string& loader) {
  const std::vector<std::string> ocl_icd = {"OCL_ICD_ASSUME_ICD_EXTENSION",
                                            "OCL_ICD_VENDORS",
                                            "OPENCL_VENDOR_PATH",
                                            "OCL_ICD_PLATFORM_SORT",
                                            "OPENCL_LAYERS",
                                            "OCL Icd free software",
                                            "2.3.1"};
  const std::vector<std::string> khronos = {"OCL_ICD_VENDORS",
                                            "OCL_ICD_FILENAMES",
                                            "OPENCL_LAYERS",
                                            "OPENCL_LAYER_PATH",
                                            "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
                                            "Khronos OpenCL ICD Loader",
                                            "3.1.0"};
  const std::vector<std::string> cuda = {"OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"};
  std::string bytes(1, '\0');
  const auto& rows = loader == "khronos" ? khronos : loader == "cuda" ? cuda : ocl_icd;
  for (const std::string& row : rows) bytes += row + '\0';
  return bytes;
}

constexpr const char* kOwn = "/usr/lib/aarch64-linux-gnu/";

test::Tree board_with(const std::string& loader, const std::string& kind = "loader") {
  test::TreeEntry opencl = test::elf(kind);
  opencl.holds = strings_of(loader);
  return {{"/bin/sh", test::elf("plain")},
          {std::string(kOwn) + "libc.so.6", test::elf("plain")},
          {std::string(kOwn) + "libOpenCL.so.1", opencl},
          {std::string(kOwn) + "libpocl.so.2", test::elf("vendor")},
          {std::string(kOwn) + "libother.so.1", test::elf("vendor")},
          {"/etc/OpenCL/vendors/pocl.icd", test::text("libpocl.so.2\n")},
          {"/etc/OpenCL/vendors/other.icd", test::text("libother.so.1\n")},
          {"/one/p.icd", test::text("libpocl.so.2\n")},
          {"/empty", test::folder()}};
}

struct Looked {
  LoaderInView loader;
  std::vector<VariableInView> variables;
  std::vector<IcdInView> icd_files;
};

Looked look(const test::Tree& tree, const std::map<std::string, std::string>& variables) {
  const test::TempDir dir;
  test::build_tree(tree, dir.path());
  const auto view = view_of(dir.path());
  LinkerSetting setting = setting_of(*view);
  setting.variables = variables;
  Looked found;
  found.loader = loader_in_use(*view, setting);
  found.variables = variables_in(*view, setting, found.loader);
  found.icd_files = icd_files_of(*view, setting, found.loader);
  return found;
}

std::string filled(std::string text) {
  const std::pair<std::string, std::string> values[] = {
      {"{one}", "/one"},
      {"{empty}", "/empty"},
      {"{name}", "libpocl.so.2"},
      {"{library}", std::string(kOwn) + "libpocl.so.2"}};
  for (const auto& [word, value] : values) {
    if (const size_t at = text.find(word); at != std::string::npos)
      text.replace(at, word.size(), value);
  }
  return text;
}

size_t usable(const std::vector<IcdInView>& rows) {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.usable; }));
}

// Each row was seen with the real loaders (tests/data/loader_variables.json says which).
TEST(LoaderVariables, DoInAViewWhatTheyDoToTheRealLoaders) {
  const test::JsonFields data(
      test::get(std::string(CLVET_SOURCE_DIR) + "/tests/data/loader_variables.json"));
  EXPECT_GE(data.size("/rows"), 30u);
  for (const std::string& number : data.names("/rows")) {
    const std::string row = "/rows/" + number;
    SCOPED_TRACE(data.json(row));
    const std::string loader = data.text(row + "/loader");
    std::map<std::string, std::string> variables;
    for (const std::string& name : data.names(row + "/set"))
      variables[name] = filled(data.text(row + "/set/" + name));
    const Looked found = look(board_with(loader), variables);
    EXPECT_EQ(to_string(found.loader.kind), loader);
    const std::string drivers = data.json(row + "/drivers");
    EXPECT_EQ(std::to_string(usable(found.icd_files)), drivers.front() == '"' ? "2" : drivers);
    std::map<std::string, std::string> states, wanted;
    for (const std::string& name : data.names(row + "/states"))
      wanted[name] = data.text(row + "/states/" + name);
    for (const VariableInView& variable : found.variables) states[variable.name] = variable.state;
    EXPECT_EQ(states, wanted);
  }
}

TEST(Loader, IsKnownByItsFileWithTheVariablesThatItReads) {
  const Looked khronos = look(board_with("khronos"), {});
  EXPECT_EQ(khronos.loader.kind, LoaderKind::kKhronos);
  EXPECT_THAT(khronos.loader.reads, Contains("OCL_ICD_FILENAMES"));
  EXPECT_THAT(khronos.loader.reads, Not(Contains("OPENCL_VENDOR_PATH")));
  EXPECT_THAT(khronos.variables, IsEmpty());
  EXPECT_EQ(khronos.loader.version, "3.1.0");
  const Looked ocl_icd = look(board_with("ocl-icd"), {});
  EXPECT_EQ(ocl_icd.loader.kind, LoaderKind::kOclIcd);
  EXPECT_EQ(ocl_icd.loader.version, "2.3.1");
  const Looked cuda = look(board_with("cuda"), {{"OPENCL_VENDOR_PATH", "/one"}});
  EXPECT_EQ(cuda.loader.kind, LoaderKind::kKhronos) << "CUDA's, which does not tell its name";
  ASSERT_EQ(cuda.variables.size(), 1u);
  EXPECT_EQ(cuda.variables[0].state, "ignored");
}

TEST(Loader, ThatIsADriverInItsPlaceReadsNoVariable) {
  const Looked found = look(board_with("khronos", "vendor"), {{"OCL_ICD_VENDORS", "/one"}});
  EXPECT_EQ(found.loader.kind, LoaderKind::kVendor);
  ASSERT_EQ(found.variables.size(), 1u);
  EXPECT_EQ(found.variables[0].state, "ignored");
}

TEST(Loader, OfAnUnknownKindIsNotJudged) {
  test::Tree tree = board_with("khronos");
  tree[std::string(kOwn) + "libOpenCL.so.1"].holds = "";
  const Looked found = look(tree, {{"OCL_ICD_VENDORS", "/nonexistent"}});
  EXPECT_EQ(found.loader.kind, LoaderKind::kUnknown);
  EXPECT_THAT(found.variables, IsEmpty());
}

// Seen with both loaders: a carriage return or a blank ends up in the name; of two lines ocl-icd
// takes the first, the Khronos loader both.
TEST(IcdFile, WithAFaultCountsAsTheLoaderInUseTakesIt) {
  const auto drivers = [](const std::string& loader, const std::string& text) {
    test::Tree tree = board_with(loader);
    tree["/one/p.icd"] = test::text(text);
    return usable(look(tree, {{"OCL_ICD_VENDORS", "/one"}}).icd_files);
  };
  for (const char* loader : {"ocl-icd", "khronos"}) {
    EXPECT_EQ(drivers(loader, "libpocl.so.2"), 1u) << loader;
    EXPECT_EQ(drivers(loader, "libpocl.so.2\r\n"), 0u) << loader;
    EXPECT_EQ(drivers(loader, "libpocl.so.2 \n"), 0u) << loader;
  }
  EXPECT_EQ(drivers("ocl-icd", "libpocl.so.2\nlibfoo.so\n"), 1u);
  EXPECT_EQ(drivers("khronos", "libpocl.so.2\nlibfoo.so\n"), 0u);
}

TEST(ProgramVariable, MustNameAFileThatIsThere) {
  const Looked found = look(board_with("ocl-icd"), {{"LIBOPENCL_SO_PATH", "libpocl.so.2"},
                                                    {"LIBOPENCL_SO_PATH_2", "/one/p.icd"},
                                                    {"OPENCV_OPENCL_RUNTIME", "disabled"}});
  ASSERT_EQ(found.variables.size(), 3u);
  EXPECT_EQ(found.variables[0].state, "useless") << "a bare name is no file to stat()";
  EXPECT_EQ(found.variables[1].state, "honoured");
  EXPECT_EQ(found.variables[2].state, "honoured");
}

TEST(ProgramVariable, OfRusticlNamesMesasDrivers) {
  const auto state = [](const char* name, const char* value) {
    const Looked found = look(board_with("ocl-icd"), {{name, value}});
    return found.variables.empty() ? "" : found.variables[0].state;
  };
  EXPECT_EQ(state("RUSTICL_ENABLE", "panfrost"), "honoured");
  EXPECT_EQ(state("RUSTICL_ENABLE", "iris:0, llvmpipe"), "honoured");
  EXPECT_EQ(state("RUSTICL_ENABLE", "mali"), "useless");
  EXPECT_EQ(state("RUSTICL_ENABLE", "panfrost,mali"), "useless");
  EXPECT_EQ(state("RUSTICL_FEATURES", "fp16,fp64"), "honoured");
  EXPECT_EQ(state("RUSTICL_FEATURES", "half"), "useless");
  EXPECT_EQ(state("GGML_OPENCL_PLATFORM", "0"), "honoured");
}

TEST(TreesVariables, AreThoseThatLoginsSet) {
  const test::TempDir dir;
  test::build_tree(
      {{"/etc/environment",
        test::text("PATH=/bin\n# OCL_ICD_VENDORS=/no\nOCL_ICD_VENDORS=\"/one two\"\n"
                   " export OPENCL_LAYERS='liba.so'\r\nLD_LIBRARY_PATH=/x\nnothing\n")}},
      dir.path());
  EXPECT_EQ(variables_of_tree(*view_of(dir.path())),
            (std::map<std::string, std::string>{{"OCL_ICD_VENDORS", "/one two"},
                                                {"OPENCL_LAYERS", "liba.so"}}));
}

}  // namespace
}  // namespace clvet
