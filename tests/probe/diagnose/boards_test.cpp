// Every board of tests/data/boards: its class, its cause, its first fix, and that the fix helps.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "probe/diagnose/diagnosis.h"
#include "probe/diagnose/fix_script.h"
#include "probe/diagnose/report_facts.h"
#include "probe/diagnose/rules.h"
#include "probe/files/change.h"
#include "probe/files/personalities.h"
#include "probe/report/report.h"
#include "tests/boards.h"
#include "tests/support.h"

namespace clvet {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

std::vector<std::string> classes_of(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& row : findings) names.push_back(row.name);
  return names;
}

Diagnosis look(const std::string& root, const json& board) {
  DiagnosisOptions options;
  options.root = root;
  options.as = board.value("as", "");
  const auto found = diagnose(options);
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(Diagnosis());
}

void expect_finding(const std::vector<Finding>& findings, const json& expect) {
  ASSERT_FALSE(findings.empty());
  const Finding& first = findings.front();
  EXPECT_EQ(first.name, expect.at("class").get<std::string>())
      << testing::PrintToString(classes_of(findings));
  EXPECT_FALSE(first.cause.at("en").empty());
  EXPECT_THAT(first.cause.at("en"), Not(HasSubstr("{")));
  EXPECT_FALSE(first.cause.at("zh").empty());
  ASSERT_FALSE(first.fixes.empty());
  EXPECT_THAT(first.fixes.front().text.at("en"),
              HasSubstr(expect.at("first_fix").get<std::string>()));
  EXPECT_FALSE(first.evidence.empty());
}

int run_script(const std::string& script, const std::string& root, const std::string& mode) {
  const std::string command =
      "CLVET_FIX_ROOT='" + root + "' sh '" + script + "' " + mode + " > '" + script + ".out' 2>&1";
  const int status = ::system(command.c_str());
  if (status != 0) ADD_FAILURE() << test::get(script + ".out");
  return status;
}

void expect_cured(const std::string& root, const json& board) {
  const Diagnosis after = look(root, board);
  const json& expect = board.at("expect");
  if (expect.value("gone", true) && !expect.at("class").is_null()) {
    EXPECT_THAT(classes_of(after.findings),
                Not(testing::Contains(expect.at("class").get<std::string>())));
  }
  if (!after.framework) return;
  EXPECT_STREQ(to_string(after.framework->replay.end), "usable") << after.framework->replay.reason;
}

class Board : public testing::TestWithParam<std::string> {};

void expect_tree(const json& board) {
  const test::TempDir before, copy, place;
  const std::string script = place / "fix.sh";
  test::build_board(board.at("tree"), before.path());
  test::build_board(board.at("tree"), copy.path());
  const auto original = test::read_tree(copy.path());
  const Diagnosis found = look(before.path(), board);
  if (!board.at("expect").at("class").is_null()) expect_finding(found.findings, board.at("expect"));
  if (found.framework && found.framework->change) {
    EXPECT_STREQ(to_string(found.framework->change->after.end), "usable");
  }
  test::put(script, fix_script(script_steps(found, "en"), before.path()));
  run_script(script, copy.path(), "");
  EXPECT_EQ(test::read_tree(copy.path()), original) << "a dry run changes nothing";
  run_script(script, copy.path(), "--apply");
  run_script(script, copy.path(), "--apply");
  const auto applied = test::read_tree(copy.path());
  run_script(script, copy.path(), "--undo");
  EXPECT_EQ(test::read_tree(copy.path()), original) << "the undo restores every byte";
  run_script(script, copy.path(), "--undo");
  EXPECT_EQ(test::read_tree(copy.path()), original);
  run_script(script, copy.path(), "--apply");
  EXPECT_EQ(test::read_tree(copy.path()), applied);
  if (board.contains("remedy")) test::build_board(board.at("remedy"), copy.path());
  expect_cured(copy.path(), board);
}

Report report_of(const json& behaviour) {
  Report report;
  for (const json& row : behaviour.at("candidates")) {
    CandidateReport candidate;
    candidate.name = row.at("name");
    candidate.origin = parse_origin(row.value("origin", "known-name")).value();
    candidate.path = row.value("path", "");
    candidate.outcome = parse_candidate_outcome(row.at("outcome").get<std::string>()).value();
    candidate.reason = row.value("reason", "");
    report.candidates.push_back(std::move(candidate));
  }
  report.loader.kind = parse_loader_kind(behaviour.value("loader", "none")).value();
  for (const std::string& type : behaviour.value("devices", std::vector<std::string>())) {
    DeviceReport device;
    device.id = "d0";
    device.name = "A device";
    device.type = type;
    device.library = behaviour.value("library", "");
    report.devices.push_back(std::move(device));
  }
  for (const std::string& node : behaviour.value("nodes", std::vector<std::string>())) {
    report.host.nodes.push_back(parse_device_node(node));
  }
  report.host.kernel_drivers = behaviour.value("kernel_drivers", std::vector<std::string>());
  for (const json& row : behaviour.value("verdicts", json::array())) {
    VerdictReport verdict;
    verdict.id = "d0/case";
    verdict.device = "d0";
    verdict.verdict = parse_verdict(row.at("verdict").get<std::string>()).value();
    verdict.stage = parse_stage(row.at("stage").get<std::string>()).value();
    verdict.evidence.call = row.value("call", "");
    verdict.evidence.cl_error = row.value("cl_error", 0);
    verdict.evidence.note = row.value("note", "");
    if (const std::string value = row.value("first_value", ""); !value.empty())
      verdict.evidence.error = ErrorEvidence{.first_value = parse_wrong_value(value).value()};
    report.verdicts.push_back(std::move(verdict));
  }
  return report;
}

TEST_P(Board, IsUnderstoodAndMended) {
  const json board = test::board(GetParam());
  if (board.contains("tree")) return expect_tree(board);
  const auto rules = failure_rules("");
  ASSERT_TRUE(rules) << rules.error().message;
  expect_finding(find_failures(*rules, facts_of_report(report_of(board.at("behaviour")))),
                 board.at("expect"));
}

INSTANTIATE_TEST_SUITE_P(Boards, Board, testing::ValuesIn(test::board_names()),
                         [](const auto& info) { return info.param; });

TEST(FailureClasses, EachHasABoard) {
  std::set<std::string> shown;
  for (const std::string& name : test::board_names()) {
    const json expect = test::board(name).at("expect");
    if (!expect.at("class").is_null()) shown.insert(expect.at("class").get<std::string>());
  }
  const auto rules = failure_rules("");
  ASSERT_TRUE(rules) << rules.error().message;
  for (const Rule& rule : *rules) EXPECT_TRUE(shown.count(rule.name)) << rule.name;
}

TEST(FailureClasses, OfAHealthyMachineAreNone) {
  const test::TempDir dir;
  json tree = test::board("only_soname_runtime").at("tree");
  tree["/usr/lib/aarch64-linux-gnu/libOpenCL.so"] = {{"link", "libOpenCL.so.1"}};
  test::build_board(tree, dir.path());
  const Diagnosis found = look(dir.path(), json::object());
  EXPECT_THAT(classes_of(found.findings), testing::IsEmpty());
  EXPECT_TRUE(found.usable);
}

std::vector<std::string> classes_of_behaviour(const json& behaviour) {
  const auto rules = failure_rules("");
  EXPECT_TRUE(rules) << rules.error().message;
  return classes_of(find_failures(*rules, facts_of_report(report_of(behaviour))));
}

TEST(FailureClasses, OfALoaderAloneDoNotSpeakOfDriversWithoutADevice) {
  for (const char* outcome : {"no-platform", "error"}) {
    json behaviour = {{"loader", "ocl-icd"},
                      {"candidates",
                       {{{"name", "libOpenCL.so.1"},
                         {"origin", "loader"},
                         {"path", "/usr/lib/libOpenCL.so.1.0.0"},
                         {"outcome", outcome},
                         {"reason", "clGetPlatformIDs failed: -1001 CL_PLATFORM_NOT_FOUND_KHR"}}}}};
    EXPECT_THAT(classes_of_behaviour(behaviour), testing::ElementsAre("loader_no_icd"));
    behaviour["loader"] = "vendor";
    EXPECT_THAT(classes_of_behaviour(behaviour), testing::Contains("no_device"))
        << "a driver in the loader's place";
  }
}

TEST(FailureClasses, TellOfRusticlBesideAnotherDeviceWhereAGpuIsThereForIt) {
  json behaviour = {
      {"loader", "ocl-icd"},
      {"devices", {"cpu"}},
      {"library", "libpocl.so.2"},
      {"nodes", {"/dev/dri/renderD128"}},
      {"kernel_drivers", {"panfrost"}},
      {"candidates",
       {{{"name", "libpocl.so.2"}, {"outcome", "usable"}, {"path", "/usr/lib/libpocl.so.2"}},
        {{"name", "libRusticlOpenCL.so.1"}, {"outcome", "no-device"}}}}};
  EXPECT_THAT(classes_of_behaviour(behaviour),
              testing::ElementsAre("software_only", "rusticl_not_enabled"));
  behaviour["kernel_drivers"] = {"nvidia-drm"};
  EXPECT_THAT(classes_of_behaviour(behaviour), testing::ElementsAre("software_only"))
      << "no driver of Mesa's serves that GPU";
  behaviour.erase("nodes");
  behaviour["kernel_drivers"] = {"panfrost"};
  EXPECT_THAT(classes_of_behaviour(behaviour), testing::ElementsAre("software_only"));
}

// What a framework asks for where no change of files helps.
TEST(Diagnosis, SaysWhatHasToBeInstalledWhereNoChangeHelps) {
  const std::string own = "/usr/lib/aarch64-linux-gnu/";
  const json base = {{"/bin/sh", {{"elf", "aarch64"}, {"kind", "plain"}}},
                     {own + "libc.so.6", {{"elf", "aarch64"}, {"kind", "plain"}}}};
  json loader = base, cpu = base;
  loader[own + "libOpenCL.so.1"] =
      cpu[own + "libOpenCL.so.1"] = {{"elf", "aarch64"}, {"kind", "loader"}};
  cpu[own + "libpocl.so.2"] = {{"elf", "aarch64"}, {"kind", "vendor"}};
  cpu["/etc/OpenCL/vendors/pocl.icd"] = {{"text", "libpocl.so.2\n"}};
  const std::pair<json, std::string> rows[] = {
      {base, "library"}, {loader, "driver"}, {cpu, "gpu-driver"}};
  for (const auto& [tree, missing] : rows) {
    const test::TempDir dir;
    test::build_board(tree, dir.path());
    const Diagnosis found = look(dir.path(), {{"as", "mnn"}});
    EXPECT_FALSE(found.framework->change) << missing;
    EXPECT_EQ(found.framework->missing, missing);
  }
  const test::TempDir dir;
  test::build_board(test::board("namespace_denied").at("tree"), dir.path());
  EXPECT_EQ(look(dir.path(), {{"as", "tflite"}}).framework->missing, "listing");
}

TEST(Diagnosis, OfAnRk3399SaysWhatPaddleLitePrints) {
  const test::TempDir dir;
  const json board = test::board("rk3399");
  test::build_board(board.at("tree"), dir.path());
  const Diagnosis found = look(dir.path(), board);
  EXPECT_THAT(found.framework->replay.prints, testing::Contains("Found opencl library:0"));
  ASSERT_TRUE(found.framework->change);
  EXPECT_EQ(found.framework->change->changes.at(0),
            (Change{Change::Kind::kLink, "/usr/lib/aarch64-linux-gnu/libOpenCL.so",
                    "/opt/rockchip/lib/libmali.so.1"}));
  EXPECT_THAT(found.framework->change->after.prints,
              testing::IsSupersetOf({"Found opencl library:1", "is_opencl_backend_valid:true"}));
}

TEST(Diagnosis, OfATreeThatIsNotThereIsAnError) {
  DiagnosisOptions options;
  options.root = "/nonexistent";
  EXPECT_THAT(diagnose(options).error().message, HasSubstr("/nonexistent"));
  options.root = "/tmp";
  options.as = "tensorrt";
  EXPECT_THAT(diagnose(options).error().message, HasSubstr("paddle-lite"));
}

TEST(FixScript, QuotesWhateverAFileIsCalled) {
  const test::TempDir dir;
  const std::string evil = "/it's $(touch pwned) `x`\n--.icd";
  test::put(dir / "fix.sh", fix_script({{"why\nnot",
                                         {{Change::Kind::kFile, evil, "lib'x'.so\n"},
                                          {Change::Kind::kLink, "/a/b/c", "$HOME"}}}},
                                       ""));
  fs::create_directory(dir / "tree");
  run_script(dir / "fix.sh", dir / "tree", "--apply");
  EXPECT_EQ(test::get(dir.path() + "/tree" + evil), "lib'x'.so\n");
  EXPECT_EQ(fs::read_symlink(dir / "tree/a/b/c"), "$HOME");
  EXPECT_FALSE(fs::exists("pwned"));
  run_script(dir / "fix.sh", dir / "tree", "--undo");
  EXPECT_TRUE(fs::is_empty(dir / "tree"));
}

TEST(FixScript, DoesNotFollowATreesLinksOutOfIt) {
  const test::TempDir dir, outside;
  fs::create_directories(dir / "tree/usr");
  fs::create_symlink(outside.path(), dir / "tree/usr/lib");
  test::put(dir / "fix.sh",
            fix_script({{"x", {{Change::Kind::kFile, "/usr/lib/deep/f", "new\n"}}}}, ""));
  const std::string command = "CLVET_FIX_ROOT='" + dir / "tree" + "' sh '" + dir / "fix.sh";
  EXPECT_NE(::system((command + "' --apply 2> '" + dir / "said" + "'").c_str()), 0);
  EXPECT_THAT(test::get(dir / "said"), HasSubstr("usr/lib is a link"));
  EXPECT_TRUE(fs::is_empty(outside.path()));
}

TEST(FixScript, QuotesWordsThatAShellWouldTakeApart) {
  EXPECT_EQ(shell_word("/usr/lib/libOpenCL.so.1"), "/usr/lib/libOpenCL.so.1");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b;$(c)"), "'a b;$(c)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(FixScript, DoesNotTakeBackWhatItDidNotDo) {
  const test::TempDir dir;
  test::put(
      dir / "fix.sh",
      fix_script({{"x", {{Change::Kind::kFile, "/f", "new\n"}, {Change::Kind::kLink, "/l", "t"}}}},
                 ""));
  fs::create_directory(dir / "tree");
  test::put(dir / "tree/f", "mine\n");
  run_script(dir / "fix.sh", dir / "tree", "--undo");
  EXPECT_EQ(test::get(dir / "tree/f"), "mine\n");
}

}  // namespace
}  // namespace clvet
