#include "tests/cli/terminal.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/columns.h"
#include "base/text.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;

// The states of the line that is written over and over.
std::vector<std::string> states_of(const std::string& shown) {
  std::vector<std::string> states;
  for (std::string& part : split(shown, '\r')) {
    if (part.starts_with("\x1b[K[")) states.push_back(part.substr(3));
  }
  return states;
}

std::vector<std::string> probe_some(const test::Bench& bench) {
  std::vector<std::string> words = bench.command({"--case", "softmax_row/high"});
  words.erase(words.begin());
  return words;
}

TEST(Progress, IsOneLineThatFitsTheTerminalAndTellsTheShare) {
  test::Bench bench(test::pocl_library().value_or("none"));
  for (const auto& [columns, locale] : {std::pair(40, "zh_CN.UTF-8"), std::pair(80, "C.UTF-8")}) {
    bench.environment()["LC_ALL"] = locale;
    const auto done = test::run_on_terminal(probe_some(bench), bench.environment(), columns);
    const auto states = states_of(done.shown);
    ASSERT_FALSE(states.empty()) << done.shown;
    for (const std::string& state : states) {
      EXPECT_LT(columns_of(state), static_cast<size_t>(columns)) << state;
      EXPECT_THAT(state, HasSubstr(" %"));
      EXPECT_THAT(state, Not(HasSubstr("\n"))) << state;
    }
  }
}

TEST(Progress, StaysAwayFromFilesPipesAndQuietTerminals) {
  test::Bench bench(test::pocl_library().value_or("none"));
  EXPECT_THAT(bench.probe({"--case", "softmax_row/high"}).err, Not(HasSubstr("%")));
  std::vector<std::string> quiet = probe_some(bench);
  quiet.emplace_back("--quiet");
  EXPECT_EQ(test::run_on_terminal(quiet, bench.environment(), 80).shown, "");
}

}  // namespace
}  // namespace clvet
