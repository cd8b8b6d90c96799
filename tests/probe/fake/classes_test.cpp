// Failure classes that only a running driver shows: the hostile driver behaves as a board says, and
// the probe's own advice begins with the class and its first fix.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/json.h"
#include "probe/diagnose/rules.h"
#include "probe/probe.h"
#include "probe/report/report.h"
#include "tests/boards.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> hostile_boards() {
  std::vector<std::string> names;
  for (const std::string& name : test::board_names()) {
    if (test::board(name).contains("hostile")) names.push_back(name);
  }
  return names;
}

// A folder of ICD files that name copies of the hostile driver; the machine's own loader reads it.
std::string put_behind_the_loader(const test::Bench& bench, const json& names) {
  const std::string folder = bench / "icd";
  std::filesystem::create_directory(folder);
  for (const std::string name : names) {
    std::filesystem::copy_file(FAKE_CL, bench / name);
    test::put(folder + "/" + name + ".icd", (bench / name) + "\n");
  }
  return folder;
}

// The probe's report, with clocks that are short.
Report probed(const json& hostile) {
  const json& scenario = hostile.at("scenario");
  test::Bench bench("none", scenario.is_string() ? test::scenario(scenario) : scenario.dump());
  std::vector<std::unique_ptr<test::ScopedVariable>> variables;
  for (const auto& [name, value] : bench.environment())
    variables.push_back(std::make_unique<test::ScopedVariable>(name.c_str(), value));
  ProbeOptions options;
  if (hostile.contains("icd") || hostile.contains("alone")) {
    const json names = hostile.value("icd", json::array());
    variables.push_back(std::make_unique<test::ScopedVariable>(
        "OCL_ICD_VENDORS", put_behind_the_loader(bench, names)));
    options.device = "Mali-G78";
    if (const std::string alone = hostile.value("alone", ""); !alone.empty()) {
      std::filesystem::create_directory(bench / "alone");
      std::filesystem::copy_file(FAKE_CL, bench / ("alone/" + alone));
      variables.push_back(
          std::make_unique<test::ScopedVariable>("LD_LIBRARY_PATH", bench / "alone"));
    }
  } else {
    const std::string library = bench / hostile.value("library", "libvendor.so");
    std::filesystem::create_symlink(FAKE_CL, library);
    options.libraries = {library};
  }
  options.cases = {hostile.value("case", "gemv_*/high/normal/buffer/buffer/float/odd")};
  options.state_dir = bench.state();
  options.program = CLVET_PROGRAM;
  options.limits.build = {1.5, 20};
  options.limits.other = {1.5, 20};
  options.sink = [](const Event&) {};
  const auto report = probe(options);
  EXPECT_TRUE(report) << report.error().message;
  return report.value_or(Report());
}

class HostileBoard : public testing::TestWithParam<std::string> {};

TEST_P(HostileBoard, IsUnderstoodFromWhatItsDriverDoes) {
  const json board = test::board(GetParam());
  const Report report = probed(board.at("hostile"));
  const auto first = std::find_if(
      report.advice.begin(), report.advice.end(),
      [](const AdviceReport& row) { return row.id.starts_with("class-") && row.lang == "en"; });
  ASSERT_NE(first, report.advice.end());
  EXPECT_EQ(first->id, "class-" + board.at("expect").at("class").get<std::string>())
      << testing::PrintToString(first->evidence);
  ASSERT_FALSE(first->fixes.empty());
  EXPECT_THAT(first->fixes.front(),
              HasSubstr(board.at("expect").at("first_fix").get<std::string>()));
  EXPECT_FALSE(first->evidence.empty());
}

INSTANTIATE_TEST_SUITE_P(Boards, HostileBoard, testing::ValuesIn(hostile_boards()),
                         [](const auto& info) { return info.param; });

TEST(HostileBoards, ShowEveryClassThatNoFileShows) {
  std::set<std::string> shown, files_show;
  for (const std::string& name : test::board_names()) {
    const json board = test::board(name);
    const json& word = board.at("expect").at("class");
    if (word.is_null()) continue;  // a board on which nothing is wrong
    if (board.contains("tree")) files_show.insert(word);
    if (board.contains("hostile")) shown.insert(word);
  }
  const auto rules = failure_rules("");
  ASSERT_TRUE(rules) << rules.error().message;
  for (const Rule& rule : *rules)
    EXPECT_TRUE(shown.count(rule.name) || files_show.count(rule.name)) << rule.name;
}

}  // namespace
}  // namespace clvet
