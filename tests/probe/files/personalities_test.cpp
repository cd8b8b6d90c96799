#include <elf.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/linker.h"
#include "probe/files/personalities.h"
#include "tests/boards.h"
#include "tests/json_fields.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::elf;
using test::link;
using test::text;
using test::with;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A tree that lives as long as its view.
class Tree {
 public:
  explicit Tree(const test::Tree& tree) {
    test::build_tree(tree, dir_.path());
    view_ = view_of(dir_.path());
    setting_ = setting_of(*view_);
  }
  const FileSystemView& view() const { return *view_; }
  LinkerSetting& setting() { return setting_; }
  Replay as(const std::string& name) const {
    return replay(find_personality("", name).value(), *view_, setting_, devices_by_files);
  }
  std::optional<LeastChange> fix(const std::string& name) const {
    const Personality personality = find_personality("", name).value();
    return least_change(personality, *view_, setting_, devices_by_files,
                        serving_libraries(personality, *view_, setting_));
  }
  std::optional<SourceEdit> edit(const std::string& name) const {
    const Personality personality = find_personality("", name).value();
    return source_edit(personality, *view_, setting_, devices_by_files,
                       serving_libraries(personality, *view_, setting_));
  }

 private:
  test::TempDir dir_;
  std::unique_ptr<FileSystemView> view_;
  LinkerSetting setting_;
};

constexpr const char* kOwn = "/usr/lib/aarch64-linux-gnu/";

test::Tree system_files() {
  return {{"/bin/sh", elf("plain")}, {std::string(kOwn) + "libc.so.6", elf("plain", "libc.so.6")}};
}

// A Debian board: a loader's run-time package and Rockchip's driver behind an ICD file.
test::Tree debian_board() {
  return with(system_files(),
              {{std::string(kOwn) + "libOpenCL.so.1", link("libOpenCL.so.1.0.0")},
               {std::string(kOwn) + "libOpenCL.so.1.0.0", elf("loader", "libOpenCL.so.1")},
               {std::string(kOwn) + "libmali.so.1", elf("vendor", "libmali.so.1")},
               {"/etc/OpenCL/vendors/mali.icd", text("libmali.so.1\n")}});
}

std::vector<std::string> tried(const Replay& replay) {
  std::vector<std::string> names;
  for (const ReplayStep& step : replay.steps) names.push_back(step.name);
  return names;
}

TEST(Personalities, AreThoseOfTheInterface) {
  std::set<std::string> names;
  const auto all = personalities("");
  ASSERT_TRUE(all) << all.error().message;
  for (const Personality& row : *all) {
    names.insert(row.name);
    EXPECT_THAT(row.source, StartsWith("https://github.com/")) << row.name;
    EXPECT_FALSE(row.names.at("linux").empty()) << row.name;
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"paddle-lite", "mnn", "tnn", "mace", "tflite", "tvm", "acl",
                                   "opencv", "hashcat", "llama.cpp", "clpeak", "libopencl-stub"}));
}

TEST(Personality, ThatIsUnknownIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(find_personality("", "tensorrt").error().message, HasSubstr("paddle-lite mnn"));
}

// Facts taken from the sources, apart from the table under test.
test::JsonFields lookup_orders() {
  return test::JsonFields(
      test::get(std::string(CLVET_SOURCE_DIR) + "/tests/data/lookup_order.json"));
}

LinkerSetting setting_called(const std::string& word) {
  const bool wide = word.ends_with("64");
  LinkerSetting setting;
  setting.system = word.starts_with("android")       ? System::kAndroid
                   : word.starts_with("openharmony") ? System::kOpenHarmony
                                                     : System::kLinux;
  setting.abi = wide ? Abi{64, EM_AARCH64} : Abi{32, EM_ARM};
  return setting;
}

TEST(Personality, WithAPatternThatIsNoneIsRefusedAsBadData) {
  const test::TempDir dir;
  std::filesystem::create_directories(dir / "cl");
  test::put(dir / "cl/personalities.json",
            R"({"personalities": [{"name": "x", "title": "X", "source": "s",
    "flags": "", "stops_at": "opened", "names": {"linux": ["a"]}, "needs": [], "devices": {"names": ["("]}}]})");
  const auto found = personalities(dir.path());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(found.error().message, HasSubstr("personalities.json"));
}

TEST(Personality, TriesItsNamesInTheOrderOfItsSource) {
  const Tree nothing({});
  size_t systems = 0;
  const test::JsonFields orders = lookup_orders();
  for (const std::string& name : orders.names("/frameworks")) {
    const std::string facts = "/frameworks/" + name;
    const auto found = find_personality("", name);
    ASSERT_TRUE(found) << found.error().message;
    for (const std::string& system : orders.names(facts + "/systems")) {
      const Replay done = replay(*found, nothing.view(), setting_called(system), devices_by_files);
      EXPECT_EQ(tried(done), orders.texts(facts + "/systems/" + system))
          << name << " on " << system;
      ++systems;
    }
  }
  EXPECT_GE(systems, 25u);
}

TEST(Personality, GoesAboutItAsItsSourceDoes) {
  std::set<std::string> shown;
  const test::JsonFields orders = lookup_orders();
  for (const std::string& name : orders.names("/frameworks")) {
    const std::string facts = "/frameworks/" + name;
    const auto found = find_personality("", name);
    ASSERT_TRUE(found) << found.error().message;
    const Lookup& lookup = lookup_on(*found, System::kLinux);
    EXPECT_EQ(lookup.stops_at, orders.text(facts + "/stops_at")) << name;
    EXPECT_EQ(lookup.symbol, orders.has(facts + "/symbol") ? orders.text(facts + "/symbol") : "")
        << name;
    EXPECT_EQ(lookup.variables, orders.has(facts + "/variables")
                                    ? orders.texts(facts + "/variables")
                                    : std::vector<std::string>())
        << name;
    if (orders.has(facts + "/flags")) {
      EXPECT_EQ(lookup.flags, orders.text(facts + "/flags")) << name;
    }
    if (orders.has(facts + "/google")) {
      EXPECT_EQ(found->google ? "true" : "false", orders.json(facts + "/google")) << name;
    }
    shown.insert(name);
  }
  const auto all = personalities("");
  ASSERT_TRUE(all);
  EXPECT_EQ(shown.size(), all->size()) << "a framework without facts";
}

TEST(Personality, ThatIsLinkedOnLinuxMayAskStatOnAndroid) {
  const auto clpeak = find_personality("", "clpeak");
  ASSERT_TRUE(clpeak);
  EXPECT_EQ(lookup_on(*clpeak, System::kLinux).stops_at, "linked");
  EXPECT_EQ(lookup_on(*clpeak, System::kAndroid).stops_at, "exists");
  EXPECT_EQ(lookup_on(*clpeak, System::kAndroid).variables.size(), 4u);
  EXPECT_EQ(lookup_on(*clpeak, System::kAndroid).prints.size(), 0u);
}

TEST(Personality, OfOpenCvTriesNothingElseWhereItsVariableIsSet) {
  Tree tree(debian_board());
  tree.setting().variables["OPENCV_OPENCL_RUNTIME"] = "disabled";
  const Replay off = tree.as("opencv");
  EXPECT_EQ(off.end, ReplayEnd::kNoLibrary);
  EXPECT_THAT(tried(off), ElementsAre("disabled"));
  tree.setting().variables["OPENCV_OPENCL_RUNTIME"] = std::string(kOwn) + "libOpenCL.so.1";
  EXPECT_EQ(tree.as("opencv").end, ReplayEnd::kUsable);
}

TEST(Personality, OfARunTimePackageAloneDiffersByFramework) {
  const Tree tree(debian_board());
  const std::map<std::string, ReplayEnd> expected = {
      {"paddle-lite", ReplayEnd::kNoLibrary}, {"mnn", ReplayEnd::kNoLibrary},
      {"tnn", ReplayEnd::kNoLibrary},         {"mace", ReplayEnd::kNoLibrary},
      {"tflite", ReplayEnd::kNoLibrary},      {"tvm", ReplayEnd::kNoLibrary},
      {"acl", ReplayEnd::kNoLibrary},         {"opencv", ReplayEnd::kUsable},
      {"hashcat", ReplayEnd::kUsable},        {"llama.cpp", ReplayEnd::kUsable},
      {"clpeak", ReplayEnd::kUsable},         {"libopencl-stub", ReplayEnd::kNoLibrary}};
  for (const auto& [name, end] : expected)
    EXPECT_STREQ(to_string(tree.as(name).end), to_string(end)) << name;
}

TEST(Personality, SaysInItsOwnWordsWhatItFinds) {
  const Tree tree(debian_board());
  EXPECT_THAT(tree.as("paddle-lite").prints,
              ElementsAre("Failed to find and initialize Opencl library", "Found opencl library:0",
                          "is_opencl_backend_valid:false"));
  EXPECT_THAT(tree.as("tflite").prints,
              ElementsAre(StartsWith("Can not open OpenCL library on this device - ")));
}

TEST(LeastChange, OfARunTimePackageIsTheDevelopmentLink) {
  const Tree tree(debian_board());
  for (const char* name : {"paddle-lite", "mnn", "tnn", "mace", "tflite", "tvm", "acl"}) {
    const auto fix = tree.fix(name);
    ASSERT_TRUE(fix) << name;
    ASSERT_EQ(fix->changes.size(), 1u) << name;
    EXPECT_EQ(fix->changes[0].kind, Change::Kind::kLink) << name;
    EXPECT_EQ(fix->changes[0].path, std::string(kOwn) + "libOpenCL.so") << name;
    EXPECT_EQ(fix->changes[0].value, "libOpenCL.so.1.0.0") << name;
    EXPECT_EQ(fix->after.end, ReplayEnd::kUsable) << name;
  }
  EXPECT_THAT(
      tree.fix("paddle-lite")->after.prints,
      ElementsAre("Found opencl library:1", "dlsym_success:1", "is_opencl_backend_valid:true"));
}

TEST(LeastChange, IsAVariableWhereTheFrameworkHonoursOne) {
  const auto fix = Tree(debian_board()).fix("libopencl-stub");
  ASSERT_TRUE(fix);
  EXPECT_EQ(fix->changes.at(0).kind, Change::Kind::kVariable);
  EXPECT_EQ(fix->changes.at(0).path, "LIBOPENCL_SO_PATH");
}

// An RK3399 as in the field: the vendor's library in a folder of its own, nothing else.
TEST(LeastChange, OfAVendorsLibraryInAFolderOfItsOwn) {
  const Tree tree(
      with(system_files(), {{"/opt/rockchip/lib/libmali.so.1", elf("vendor", "libmali.so.1")}}));
  const Replay before = tree.as("paddle-lite");
  EXPECT_EQ(before.end, ReplayEnd::kNoLibrary);
  const auto fix = tree.fix("paddle-lite");
  ASSERT_TRUE(fix);
  EXPECT_EQ(fix->changes.at(0).path, std::string(kOwn) + "libOpenCL.so");
  EXPECT_EQ(fix->changes.at(0).value, "/opt/rockchip/lib/libmali.so.1");
  EXPECT_THAT(fix->after.prints, Contains("is_opencl_backend_valid:true"));
}

TEST(LeastChange, RewritesAnIcdFileThatTheLoaderStumblesOver) {
  const Tree board(
      with(debian_board(), {{"/etc/OpenCL/vendors/mali.icd", text("libmali.so.1\r\n")}}));
  EXPECT_EQ(board.as("opencv").end, ReplayEnd::kNoDevice);
  const auto fix = board.fix("opencv");
  ASSERT_TRUE(fix);
  EXPECT_EQ(fix->changes.at(0),
            (Change{Change::Kind::kFile, "/etc/OpenCL/vendors/mali.icd", "libmali.so.1\n"}));
}

TEST(LeastChange, IsAnIcdFileWhereTheLoaderHasNone) {
  test::Tree tree = debian_board();
  tree.erase("/etc/OpenCL/vendors/mali.icd");
  const Tree board(tree);
  EXPECT_EQ(board.as("hashcat").end, ReplayEnd::kNoDevice);
  const auto fix = board.fix("hashcat");
  ASSERT_TRUE(fix);
  EXPECT_EQ(fix->changes.at(0), (Change{Change::Kind::kFile, "/etc/OpenCL/vendors/mali.icd",
                                        std::string(kOwn) + "libmali.so.1\n"}));
  EXPECT_EQ(fix->after.end, ReplayEnd::kUsable);
}

TEST(LeastChange, DoesNotExistWhereNothingServes) {
  EXPECT_FALSE(Tree(system_files()).fix("mnn"));
  EXPECT_FALSE(
      Tree(with(system_files(), {{"/opt/libmali.so", elf("egl", "libmali.so")}})).fix("mnn"));
}

TEST(SourceEdit, PutsTheLibraryAtTheHeadOfTheFrameworksOwnList) {
  const Tree tree(with(system_files(), {{"/opt/mali/libmali.so.1", elf("vendor")}}));
  const auto lite = tree.edit("paddle-lite");
  ASSERT_TRUE(lite);
  EXPECT_EQ(lite->file, "lite/backends/opencl/cl_wrapper.cc");
  EXPECT_EQ(lite->name, "/opt/mali/libmali.so.1");
  EXPECT_EQ(lite->after.steps.size(), 1u);
  EXPECT_STREQ(to_string(lite->after.end), "usable");
}

TEST(SourceEdit, IsNoneWhereTheFrameworkIsLinkedOrNothingServes) {
  const Tree tree(with(system_files(), {{"/opt/mali/libmali.so.1", elf("vendor")}}));
  EXPECT_FALSE(tree.edit("llama.cpp"));
  const Tree empty(with(system_files(), {{"/opt/mali/libmali.so.1", elf("egl")}}));
  EXPECT_FALSE(empty.edit("mnn"));
}

TEST(Personality, StopsAtTheFirstLibraryThatOpensWithoutLookingInside) {
  const Tree tree(with(debian_board(), {{"/usr/lib/libOpenCL.so", elf("egl", "libOpenCL.so")}}));
  const Replay found = tree.as("mnn");
  EXPECT_EQ(found.end, ReplayEnd::kMissingSymbols);
  EXPECT_THAT(found.missing_symbols, Contains("clGetPlatformIDs"));
  EXPECT_EQ(found.library, "/usr/lib/libOpenCL.so");
  EXPECT_EQ(found.steps.size(), 1u);
  const auto fix = tree.fix("mnn");
  ASSERT_TRUE(fix) << "a link in the place of the file that is in the way";
  EXPECT_EQ(fix->changes.front().kind, Change::Kind::kMove);
}

TEST(Personality, OfOpenCvRejectsALibraryByItsSymbol) {
  const Tree tree(with(debian_board(), {{std::string(kOwn) + "libOpenCL.so", elf("egl")}}));
  const Replay found = tree.as("opencv");
  EXPECT_EQ(found.end, ReplayEnd::kUsable);
  EXPECT_THAT(found.steps.front().detail, HasSubstr("clEnqueueReadBufferRect"));
  EXPECT_EQ(found.steps.back().name, "libOpenCL.so.1");
}

TEST(Personality, ThatAsksStatIsCaughtByAFileOfAnotherAbi) {
  const Tree tree(with(debian_board(), {{"/usr/lib/libOpenCL.so", elf("vendor", "", "arm")},
                                        {"/usr/lib64/libOpenCL.so", elf("vendor")}}));
  EXPECT_EQ(tree.as("libopencl-stub").end, ReplayEnd::kNoLibrary);
  EXPECT_THAT(tree.as("libopencl-stub").steps.back().detail,
              HasSubstr("built for arm, not for aarch64"));
  EXPECT_EQ(tree.as("tnn").end, ReplayEnd::kUsable) << "dlopen fails, the next name is tried";
}

TEST(Personality, WithAbsoluteNamesIgnoresTheLibraryPath) {
  Tree tree(with(system_files(), {{"/opt/cl/libOpenCL.so", elf("vendor")}}));
  tree.setting().variables["LD_LIBRARY_PATH"] = "/opt/cl";
  EXPECT_EQ(tree.as("paddle-lite").end, ReplayEnd::kNoLibrary);
  EXPECT_EQ(tree.as("tflite").end, ReplayEnd::kUsable);
  tree.setting().variables.clear();
  ASSERT_TRUE(tree.fix("tflite"));
  EXPECT_EQ(tree.fix("tflite")->changes.at(0).path, "LD_LIBRARY_PATH");
}

TEST(Personality, ThatWantsAGpuGetsNoneFromACpuDriver) {
  const Tree tree(
      with(system_files(), {{"/usr/local/lib/libpocl.so", elf("vendor", "libpocl.so.2")}}));
  EXPECT_EQ(tree.as("tnn").end, ReplayEnd::kUsable);
  EXPECT_EQ(tree.as("mnn").end, ReplayEnd::kNoDevice);
  EXPECT_THAT(tree.as("mnn").reason, HasSubstr("CPU"));
}

test::Tree phone(const std::string& listed) {
  return {{"/system/bin/sh", elf("plain")},
          {"/system/build.prop", text("ro.build.version.sdk=33\n")},
          {"/system/lib64/libc.so", elf("plain", "libc.so")},
          {"/vendor/lib64/libOpenCL.so", elf("vendor", "libOpenCL.so")},
          {"/vendor/etc/public.libraries.txt", text(listed)}};
}

TEST(Personality, OnAndroidReachesWhatIsListedByItsBareName) {
  EXPECT_EQ(Tree(phone("libOpenCL.so\n")).as("paddle-lite").end, ReplayEnd::kUsable);
  const Replay hidden = Tree(phone("libadsprpc.so\n")).as("paddle-lite");
  EXPECT_EQ(hidden.end, ReplayEnd::kNoLibrary);
  EXPECT_EQ(hidden.steps.front().outcome, Opening::Outcome::kNotAccessible);
  EXPECT_EQ(tried(hidden).size(), 8u);
}

TEST(Personality, OnAPixelNeedsTheCallThatOpensTheLibrary) {
  test::Tree tree = phone("libOpenCL-pixel.so\n");
  tree.erase("/vendor/lib64/libOpenCL.so");
  tree["/vendor/lib64/libOpenCL-pixel.so"] = elf("google", "libOpenCL-pixel.so");
  const Tree pixel(tree);
  for (const char* name : {"mnn", "tflite", "tnn", "tvm"})
    EXPECT_EQ(pixel.as(name).end, ReplayEnd::kUsable) << name;
  EXPECT_EQ(pixel.as("mace").end, ReplayEnd::kMissingSymbols)
      << "loads it and never calls enableOpenCL";
}

TEST(Opening, NamesTheDependencyThatIsMissing) {
  test::Tree tree = debian_board();
  tree[std::string(kOwn) + "libmali.so.1"].needed = {"libc.so.6", "libwayland-client.so.0"};
  const Tree board(tree);
  const Opening found = open_library(board.view(), setting_of(board.view()), "libmali.so.1");
  EXPECT_EQ(found.outcome, Opening::Outcome::kDependency);
  EXPECT_EQ(found.detail, "libwayland-client.so.0");
  const auto icds = icd_files_of(board.view(), setting_of(board.view()), {});
  ASSERT_EQ(icds.size(), 1u);
  EXPECT_FALSE(icds[0].usable);
  EXPECT_THAT(icds[0].reason, HasSubstr("libwayland-client.so.0"));
}

TEST(Opening, TakesTheFoldersOfLdSoConf) {
  const Tree tree(
      with(system_files(), {{"/etc/ld.so.conf", text("include /etc/ld.so.conf.d/*.conf\n")},
                            {"/etc/ld.so.conf.d/mali.conf", text("# Mali\n/opt/mali\n")},
                            {"/opt/mali/libmali.so.1", elf("vendor")}}));
  EXPECT_EQ(open_library(tree.view(), setting_of(tree.view()), "libmali.so.1").path,
            "/opt/mali/libmali.so.1");
}

// As glibc 2.36's ldconfig -r lists such a folder.
TEST(Opening, FindsInAFolderOfLdSoConfWhatLdconfigLists) {
  const auto named = [](const char* soname) { return elf("vendor", soname); };
  const Tree tree(with(system_files(), {{"/etc/ld.so.conf", text("/opt/mali\n/usr/lib\n")},
                                        {"/opt/mali/libmali.so.1", named("libmali.so.1")},
                                        {"/opt/mali/libOpenCL.so", link("libmali.so.1")},
                                        {"/opt/mali/libCL.so.1", named("libCL.so.1")},
                                        {"/opt/mali/libCL.so", link("libCL.so.1")},
                                        {"/usr/lib/libOther.so", link("/opt/mali/libmali.so.1")}}));
  const LinkerSetting setting = setting_of(tree.view());
  const auto outcome = [&](const LinkerSetting& with_setting, const char* name) {
    return std::string(to_string(open_library(tree.view(), with_setting, name).outcome));
  };
  EXPECT_EQ(outcome(setting, "libmali.so.1"), "opened");
  EXPECT_EQ(outcome(setting, "libOpenCL.so"), "absent");
  EXPECT_EQ(outcome(setting, "libCL.so"), "opened");
  EXPECT_EQ(outcome(setting, "libOther.so"), "opened");
  LinkerSetting named_folder = setting;
  named_folder.variables["LD_LIBRARY_PATH"] = "/opt/mali";
  EXPECT_EQ(outcome(named_folder, "libOpenCL.so"), "opened");
}

TEST(View, FollowsLinksInsideItsRootOnly) {
  const Tree tree(with(system_files(), {{"/a/up", link("../../../../../etc/passwd")},
                                        {"/a/absolute", link("/b/file")},
                                        {"/b/file", text("x")},
                                        {"/loop/one", link("two")},
                                        {"/loop/two", link("one")},
                                        {"/through", link("/b")}}));
  EXPECT_FALSE(resolve(tree.view(), "/a/up"));
  EXPECT_EQ(resolve(tree.view(), "/a/absolute"), "/b/file");
  EXPECT_EQ(resolve(tree.view(), "/through/../b/./file"), "/b/file");
  EXPECT_FALSE(resolve(tree.view(), "/loop/one"));
  EXPECT_FALSE(resolve(tree.view(), "/b/file/more"));
  EXPECT_EQ(resolve(tree.view(), "/../.."), "/");
}

TEST(View, OfChangesShowsThemWithoutMakingThem) {
  const Tree tree(debian_board());
  const ChangedView changed(
      tree.view(),
      {{Change::Kind::kLink, "/new/folder/libx.so", "/bin/sh"},
       {Change::Kind::kFile, "/etc/OpenCL/vendors/b.icd", "libb.so\n"},
       {Change::Kind::kMove, "/etc/OpenCL/vendors/mali.icd", "/etc/OpenCL/vendors/mali.off"}});
  EXPECT_EQ(resolve(changed, "/new/folder/libx.so"), "/bin/sh");
  EXPECT_THAT(changed.names("/etc/OpenCL/vendors"), ElementsAre("b.icd"));
  EXPECT_EQ(changed.text("/etc/OpenCL/vendors/b.icd", 100).value(), "libb.so\n");
  EXPECT_FALSE(resolve(changed, "/etc/OpenCL/vendors/mali.icd"));
  EXPECT_TRUE(exists(tree.view(), "/etc/OpenCL/vendors/mali.icd"));
  EXPECT_FALSE(exists(tree.view(), "/new"));
}

}  // namespace
}  // namespace clvet
