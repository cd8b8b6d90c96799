// `clvet discover` as scripts meet it: exit codes, files, languages, a hostile driver.
#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tests/boards.h"
#include "tests/elf_writer.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class DiscoverCommand : public testing::Test {
 protected:
  test::Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "discover");
    return bench_.run(arguments);
  }
  // A board's tree, made anew.
  std::string tree(const std::string& name) {
    const std::string root = bench_ / name;
    std::filesystem::create_directories(root);
    test::build_board(test::board(name).at("tree"), root);
    return root;
  }
  test::Bench bench_;
};

TEST_F(DiscoverCommand, SaysOfATreeWhatIsWrongAndWhatToType) {
  const auto done = run({"--root", tree("only_soname_runtime"), "--lang", "en"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("only_soname_runtime:"));
  EXPECT_THAT(done.out,
              HasSubstr("ln -s libOpenCL.so.1.0.0 /usr/lib/aarch64-linux-gnu/libOpenCL.so"));
  EXPECT_EQ(done.err, "");
}

TEST_F(DiscoverCommand, NeverCallsUsableWhatItSaysThatNothingLeadsTo) {
  size_t unreachable = 0;
  for (const std::string& name : test::board_names()) {
    if (!test::board(name).contains("tree")) continue;
    const auto done = run({"--root", tree(name), "--lang", "en"});
    const std::string first = done.out.substr(0, done.out.find('\n'));
    const bool usable = first.ends_with(": OpenCL is usable");
    for (const char* finding : {"\nout_of_reach:", "\nno_library:"})
      EXPECT_FALSE(usable && done.out.find(finding) != std::string::npos) << name << "\n"
                                                                          << done.out;
    if (done.out.find("\nout_of_reach:") == std::string::npos) continue;
    ++unreachable;
    EXPECT_EQ(done.exit_code, 0) << "a program that is given its path can use it";
    EXPECT_THAT(first, HasSubstr(": a driver is here, but programs do not find it"));
  }
  EXPECT_GE(unreachable, 3U);
}

TEST_F(DiscoverCommand, SaysOfThisMachineThatTheLoaderDoesNotLeadToItsDevice) {
  test::Bench bench("none", test::scenario("plain-g78.json"));
  std::filesystem::create_directory(bench / "alone");
  std::filesystem::create_directory(bench / "no-icd");
  std::filesystem::copy_file(FAKE_CL, bench / "alone/libnvidia-opencl.so.1");
  bench.environment()["LD_LIBRARY_PATH"] = bench / "alone";
  const auto apart = bench.run({"discover", "--lang", "en"});
  EXPECT_THAT(apart.out, HasSubstr(": a driver is here, but programs do not find it\n"));
  EXPECT_THAT(apart.out, HasSubstr("Mali-G78"));
  test::put(bench / "no-icd/fake.icd", std::string(FAKE_CL) + "\n");
  const auto led = bench.run({"discover", "--lang", "en"});
  EXPECT_THAT(led.out, HasSubstr(": OpenCL is usable\n"));
}

TEST_F(DiscoverCommand, SpeaksChineseWhereAskedOrWhereTheLocaleDoes) {
  const std::string root = tree("no_library");
  EXPECT_THAT(run({"--root", root, "--lang", "zh"}).out, HasSubstr("未安装"));
  bench_.environment()["LC_ALL"] = "zh_CN.UTF-8";
  EXPECT_THAT(run({"--root", root}).out, HasSubstr("未安装"));
  bench_.environment()["LC_ALL"] = "C";
  EXPECT_THAT(run({"--root", root}).out, HasSubstr("no OpenCL library"));
}

TEST_F(DiscoverCommand, ExitsByWhetherOpenClOrTheFrameworkIsServed) {
  EXPECT_EQ(run({"--root", tree("no_library")}).exit_code, 3);
  const std::string board = tree("rk3399");
  EXPECT_EQ(run({"--root", board}).exit_code, 0);
  EXPECT_EQ(run({"--root", board, "--as", "paddle-lite"}).exit_code, 1);
  EXPECT_EQ(run({"--root", bench_ / "none"}).exit_code, 2);
  EXPECT_EQ(run({"--root", board, "--as", "tensorrt"}).exit_code, 2);
  EXPECT_EQ(run({"--root", board, "--data-dir", "/nonexistent"}).exit_code, 2);
  EXPECT_EQ(run({"--root", board, "--fix-script", "/nonexistent/fix.sh"}).exit_code, 2);
}

TEST_F(DiscoverCommand, WritesAScriptWithWhichTheFrameworkSucceeds) {
  const std::string root = tree("rk3399"), script = bench_ / "fix.sh";
  const auto before = run({"--root", root, "--as", "paddle-lite", "--fix-script", script});
  EXPECT_THAT(before.out, HasSubstr("| Found opencl library:0"));
  EXPECT_THAT(before.out, HasSubstr("script written: " + script));
  const auto original = test::read_tree(root);
  ASSERT_EQ(::system(("sh '" + script + "' --apply > /dev/null").c_str()), 0);
  const auto after = run({"--root", root, "--as", "paddle-lite"});
  EXPECT_EQ(after.exit_code, 0);
  EXPECT_THAT(after.out, HasSubstr("| is_opencl_backend_valid:true"));
  ASSERT_EQ(::system(("sh '" + script + "' --undo > /dev/null").c_str()), 0);
  EXPECT_EQ(test::read_tree(root), original);
}

TEST_F(DiscoverCommand, GivesEverythingAsJson) {
  const auto done = run({"--root", tree("icd_rejected"), "--as", "mnn", "--json", "-"});
  const json found = json::parse(done.out);
  EXPECT_EQ(found.at("schema"), "clvet.discover/1");
  EXPECT_EQ(found.at("abi"), "aarch64");
  EXPECT_EQ(found.at("findings").at(0).at("class"), "icd_rejected");
  EXPECT_EQ(found.at("as").at("least_change").at("after").at("end"), "usable");
  EXPECT_TRUE(found.at("discovery").is_null());
}

TEST_F(DiscoverCommand, TakesNoEmptyNameOfATreeForThisMachine) {
  const auto done = run({"--root", ""});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--root"));
}

TEST_F(DiscoverCommand, PrintsTheScriptAloneWhereItGoesToStandardOutput) {
  const auto done = run({"--root", tree("icd_malformed"), "--fix-script", "-"});
  EXPECT_THAT(done.out, testing::StartsWith("#!/bin/sh\n"));
  EXPECT_THAT(done.out, testing::EndsWith("exit $failed\n"));
  EXPECT_EQ(run({"--root", tree("icd_malformed"), "--fix-script", "-", "--json", "-"}).exit_code,
            2);
}

TEST_F(DiscoverCommand, SaysThatStandardOutputIsFull) {
  const std::string command = std::string(CLVET_PROGRAM) + " discover --root '" +
                              tree("only_soname_runtime") + "' 2> '" + bench_ / "err" +
                              "' > /dev/full";
  EXPECT_EQ(WEXITSTATUS(::system(command.c_str())), 2);
  EXPECT_THAT(test::get(bench_ / "err"), HasSubstr("cannot write to standard output"));
}

TEST_F(DiscoverCommand, TellsOfEachLibraryWhatItsFileSays) {
  const std::string root = bench_ / "tree";
  const std::string own = "/usr/lib/x86_64-linux-gnu/";
  test::build_board({{"/bin/sh", {{"elf", "x86-64"}, {"kind", "plain"}}},
                     {own + "libmali.so.1",
                      {{"elf", "x86-64"},
                       {"kind", "vendor"},
                       {"soname", "libmali.so.1"},
                       {"needed", {"libdrm.so.2"}},
                       {"holds", "r1p0-00rel0 arm_release_ver of this libmali is 'g6p0-01eac0'"}}}},
                    root);
  std::filesystem::copy(FAKE_CL, root + own + "libOpenCL.so.1");
  const json found = json::parse(run({"--root", root, "--json", "-"}).out);
  const json& rows = found.at("files").at("libraries");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].at("build_id").get<std::string>(), testing::MatchesRegex("[0-9a-f]{40}"));
  EXPECT_EQ(rows[0].at("cl_version"), "3.0");
  EXPECT_EQ(rows[1].at("soname"), "libmali.so.1");
  EXPECT_EQ(rows[1].at("abi"), "x86-64");
  EXPECT_EQ(rows[1].at("needed"), json({"libdrm.so.2"}));
  EXPECT_EQ(rows[1].at("symbols"), test::library_of_kind("vendor").symbols.size());
  EXPECT_EQ(rows[1].at("cl_version"), "1.2");
  EXPECT_EQ(rows[1].at("release"), "g6p0") << "as the driver says it itself";
  EXPECT_EQ(rows[1].at("build_id"), "");
}

// Of such a folder the linker knows what ldconfig found in it.
TEST_F(DiscoverCommand, SaysWhereALinkNeedsLdconfig) {
  const json file = {{"elf", "aarch64"}, {"kind", "plain"}};
  json board = {{"/bin/sh", file},
                {"/etc/ld.so.conf", {{"text", "/opt/cl\n"}}},
                {"/opt/cl/libOpenCL.so.1",
                 {{"elf", "aarch64"}, {"kind", "vendor"}, {"soname", "libOpenCL.so.1"}}}};
  test::build_board(board, bench_ / "conf");
  const std::string script = bench_ / "fix.sh";
  const std::vector<std::string> words = {"--root", bench_ / "conf", "--as",
                                          "tflite", "--fix-script",  script};
  EXPECT_THAT(run(words).out, HasSubstr("       ldconfig\n"));
  EXPECT_THAT(test::get(script), HasSubstr("by_hand ldconfig"));
  EXPECT_THAT(run({"--root", tree("only_soname_runtime"), "--as", "tflite"}).out,
              Not(HasSubstr("ldconfig")));
}

TEST_F(DiscoverCommand, SaysThatADriverIsMissingWhereNoChangeMakesUpForIt) {
  test::build_board(
      {{"/bin/sh", {{"elf", "aarch64"}, {"kind", "plain"}}},
       {"/usr/lib/aarch64-linux-gnu/libOpenCL.so.1", {{"elf", "aarch64"}, {"kind", "loader"}}}},
      bench_ / "bare");
  const auto done = run({"--root", bench_ / "bare", "--as", "paddle-lite", "--lang", "en"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_THAT(done.out, HasSubstr("a driver is missing"));
  EXPECT_THAT(done.out, Not(HasSubstr("no single change")));
}

TEST_F(DiscoverCommand, PrintsNothingWithQuiet) {
  const auto done = run({"--root", tree("no_library"), "--quiet"});
  EXPECT_EQ(done.out + done.err, "");
}

TEST_F(DiscoverCommand, TellsOfThisMachinesDriversWhatTheyDid) {
  test::Bench crash("none", test::scenario("load-crash.json"));
  const auto done = crash.run({"discover", "--library", FAKE_CL, "--lang", "en"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_THAT(done.out, HasSubstr("platform_crash:"));
  EXPECT_THAT(done.out, HasSubstr("signal 11 in dlopen"));
}

// Beside a loader whose ICD files name other drivers, or none.
TEST_F(DiscoverCommand, ProposesAnIcdFileForADriverThatALoaderCanEnter) {
  const auto classes = [](const char* library, const std::string& name) {
    test::Bench bench("none", test::scenario("plain-g78.json"));
    std::filesystem::create_directory(bench / "alone");
    std::filesystem::copy_file(library, bench / ("alone/" + name));
    std::filesystem::create_directory(bench / "no-icd");
    bench.environment()["LD_LIBRARY_PATH"] = bench / "alone";
    std::vector<std::string> found;
    const json told = json::parse(bench.run({"discover", "--json", "-"}).out);
    EXPECT_THAT(told.at("devices").dump(), HasSubstr("Mali-G78"));
    for (const json& row : told.at("findings")) found.push_back(row.at("class"));
    return found;
  };
  EXPECT_THAT(classes(FAKE_CL, "libnvidia-opencl.so.1"), testing::Contains("driver_not_named"));
  EXPECT_THAT(classes(FAKE_CL_GOOGLE, "libOpenCL-pixel.so"),
              Not(testing::Contains("driver_not_named")));
}

TEST_F(DiscoverCommand, ProposesNoChangeForADeviceThatTheFrameworkDoesNotTake) {
  test::Bench bench("none", test::scenario("plain-g78.json"));
  std::filesystem::create_directory(bench / "icd");
  test::put(bench / "icd/fake.icd", std::string(FAKE_CL) + "\n");
  bench.environment()["OCL_ICD_VENDORS"] = bench / "icd";
  const auto done =
      bench.run({"discover", "--as", "llama.cpp", "--library", "libOpenCL.so.1", "--json", "-"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  const json as = json::parse(done.out).at("as");
  EXPECT_THAT(as.at("replay").at("reason"), HasSubstr("does not know Mali-G78"));
  EXPECT_TRUE(as.at("least_change").is_null()) << as.at("least_change");
  EXPECT_EQ(as.at("missing"), "device");
}

TEST_F(DiscoverCommand, TakesWhatADriverPrintsForTheReasonThatItHasNoDevice) {
  test::Bench refused("none", R"({"rules":[
    {"match":{"call":"load"},"do":{"action":"stderr","text":
      "ERROR: The DDK is not compatible with any of the Mali GPUs on the system.\nThe DDK was built for 0x860 r2p0\n"}},
    {"match":{"call":"clGetDeviceIDs"},"do":{"action":"error","code":"CL_DEVICE_NOT_FOUND"}}]})");
  const auto done = refused.run({"discover", "--library", FAKE_CL, "--json", "-"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  const json found = json::parse(done.out);
  EXPECT_THAT(
      found.at("discovery").at("candidates").at(0).at("reason").get<std::string>(),
      testing::AllOf(HasSubstr("list no device"), HasSubstr("The DDK was built for 0x860 r2p0")));
  std::vector<std::string> classes;
  for (const json& row : found.at("findings")) classes.push_back(row.at("class"));
  EXPECT_THAT(classes, testing::Contains("gpu_mismatch"));
}

TEST_F(DiscoverCommand, WithAFrameworkExitsByWhatItsReplayFoundHere) {
  test::Bench fine("none", test::scenario("plain-g78.json"));
  const std::vector<std::string> words = {"discover", "--library", FAKE_CL, "--quiet", "--as"};
  const auto exit_code = [&](const char* framework) {
    std::vector<std::string> arguments = words;
    arguments.push_back(framework);
    return fine.run(arguments).exit_code;
  };
  fine.environment()["OPENCV_OPENCL_RUNTIME"] = FAKE_CL;
  EXPECT_EQ(exit_code("opencv"), 0) << "its variable names the driver";
  test::put(fine / "text.so", "not a library");
  fine.environment()["LIBOPENCL_SO_PATH"] = fine / "text.so";
  EXPECT_EQ(exit_code("libopencl-stub"), 1) << "it stops at a file that exists and does not load";
}

#if defined(__x86_64__)
// Small libraries, each with a way of its own to fail. The code runs as they are loaded.
struct Bad {
  std::string outcome;
  test::ElfSpec spec;
};

test::ElfSpec on_load(std::string_view code) {
  test::ElfSpec spec = test::library_of_kind("vendor");
  spec.machine = EM_X86_64;
  spec.on_load = code;
  return spec;
}

test::ElfSpec of(const char* kind, int bits, uint16_t machine) {
  test::ElfSpec spec = test::library_of_kind(kind);
  spec.bits = bits;
  spec.machine = machine;
  return spec;
}

std::vector<Bad> bad_libraries() {
  using std::string_view_literals::operator""sv;
  test::ElfSpec needs = of("vendor", 64, EM_X86_64);
  needs.needed = {"libnot-there.so.7"};
  return {
      {"hang", on_load("\xb8\x22\0\0\0\x0f\x05\xeb\xf7"sv)},          // pause(), again
      {"hang", on_load("\xeb\xfe"sv)},                                // a jump to itself
      {"crash", on_load("\x0f\x0b"sv)},                               // ud2
      {"exited", on_load("\xbf\x03\0\0\0\xb8\xe7\0\0\0\x0f\x05"sv)},  // exit_group(3)
      {"missing-symbols",                                             // write(1, "{banner}\n", 9)
       on_load(
           "\xbf\x01\0\0\0\x48\x8d\x35\x0a\0\0\0\xba\x09\0\0\0\x89\xf8\x0f\x05\xc3{banner}\n"sv)},
      {"missing-symbols", of("egl", 64, EM_X86_64)},
      {"wrong-elf-class", of("vendor", 32, EM_ARM)},
      {"wrong-elf-class", of("vendor", 64, EM_AARCH64)},
      {"missing-dependency", needs}};
}

class SixtyBadLibraries : public DiscoverCommand, public testing::WithParamInterface<size_t> {};

// Five of each sixty wait for ever, or loop for ever.
TEST_P(SixtyBadLibraries, EachHaveTheirOwnOutcome) {
  std::vector<std::string> arguments = {"--json", "-", "--library"}, outcomes;
  const auto add = [&](const Bad& bad) {
    const std::string path = bench_ / fmt::format("lib{}.so", outcomes.size());
    test::put(path, test::write_elf(bad.spec));
    arguments.push_back(path);
    outcomes.push_back(bad.outcome);
  };
  const std::vector<Bad> bad = bad_libraries();
  for (size_t i = 0; i < 60; ++i)
    add(i % 12 == 0 ? bad[GetParam()] : bad[2 + i % (bad.size() - 2)]);
  const auto done = run(arguments);
  EXPECT_EQ(done.exit_code, 3) << done.err;
  const json candidates = json::parse(done.out).at("discovery").at("candidates");
  ASSERT_EQ(candidates.size(), outcomes.size());
  for (size_t i = 0; i < outcomes.size(); ++i)
    EXPECT_EQ(candidates[i].at("outcome"), outcomes[i]) << candidates[i].dump();
}

INSTANTIATE_TEST_SUITE_P(DiscoverCommand, SixtyBadLibraries, testing::Values(0u, 1u),
                         [](const auto& info) {
                           return info.param == 0 ? "OfWhichFiveWait" : "OfWhichFiveLoop";
                         });
#endif

TEST_F(DiscoverCommand, ListsTheDevicesOfADriverThatWorks) {
  test::Bench fine("none", test::scenario("plain-g78.json"));
  const auto done = fine.run({"discover", "--library", FAKE_CL, "--json", "-"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const json found = json::parse(done.out);
  ASSERT_EQ(found.at("devices").size(), 1u);
  EXPECT_THAT(found.at("devices").at(0).at("name").get<std::string>(), HasSubstr("Mali-G78"));
  EXPECT_EQ(found.at("discovery").at("candidates").size(), 1u);
}

}  // namespace
}  // namespace clvet
