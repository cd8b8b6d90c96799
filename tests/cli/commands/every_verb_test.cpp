// What holds for each verb, whatever it does. The verbs are those that the program's help lists, so
// a new one needs no line here.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;

std::string help_of(std::vector<std::string> words) {
  words.push_back("--help");
  const auto done = test::Bench().run(words);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return done.out;
}

// The names below "Verbs:" in a help text; none where it has no such part.
std::vector<std::string> subcommands(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  std::string line;
  while (std::getline(lines, line) && line != "Verbs:") continue;
  while (std::getline(lines, line) && line.starts_with("  "))
    names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

std::string doc(const std::string& name) {
  return test::get(std::string(CLVET_SOURCE_DIR) + "/docs/" + name + ".md");
}

TEST(EveryVerb, IsListed) {
  const auto verbs = subcommands(help_of({}));
  for (const char* verb : {"discover", "generate", "probe", "run"})
    EXPECT_THAT(verbs, Contains(verb));
}

TEST(EveryVerb, TellsItsExitCodesAndExamplesAndTakesJsonAndQuiet) {
  for (const std::string& verb : subcommands(help_of({}))) {
    std::vector<std::vector<std::string>> forms;
    for (const std::string& form : subcommands(help_of({verb}))) forms.push_back({verb, form});
    if (forms.empty()) forms.push_back({verb});
    for (const auto& form : forms) {
      const std::string help = help_of(form);
      for (const char* part : {"Exit status: 0", "Examples:\n  clvet ", "--json FILE|-", "--quiet"})
        EXPECT_THAT(help, HasSubstr(part)) << "clvet " << verb;
    }
  }
}

// In the page of interfaces, or in the verb's guide.
TEST(EveryVerb, HasAGuideAndSaysWhatScriptsMayDependOn) {
  const std::string interfaces = doc("interfaces");
  for (const std::string& verb : subcommands(help_of({}))) {
    const std::string guide = doc(verb);
    EXPECT_THAT(guide, HasSubstr("clvet " + verb));
    EXPECT_THAT(interfaces + guide,
                AnyOf(HasSubstr("\n### clvet " + verb), HasSubstr("\n## Interface\n")));
  }
}

using Rows = std::vector<std::pair<std::vector<std::string>, std::string>>;

// Each command line is wrong usage, and says `message`.
void expect_refused(const Rows& rows) {
  test::Bench bench;
  for (const auto& [words, message] : rows) {
    const auto done = bench.run(words);
    EXPECT_EQ(done.exit_code, 2) << message;
    EXPECT_THAT(done.err, HasSubstr(message));
  }
}

TEST(EveryVerb, NamesTheWordThatItDoesNotKnow) {
  expect_refused(
      {{{"run", "m.onnx", "--shape", "x=1"}, "'clvet run' has no option '--shape'"},
       {{"check", "a.onnx", "b", "c"}, "'clvet check' takes no argument 'b'"},
       {{"report", "show", "r.json", "--nosuch"}, "'clvet report show' has no option '--nosuch'\n"},
       {{"--nosuch"}, "'clvet' has no option '--nosuch'\n"},
       {{"nosuch"}, "'clvet nosuch' is not a verb\n"},
       {{"report", "nosuch"}, "'clvet report nosuch' is not a verb\n"}});
}

// What stands first in each line below `title`, up to a line that is empty.
std::set<std::string> names_below(const std::string& text, const std::string& title) {
  std::set<std::string> names;
  std::istringstream lines(text.substr(std::min(text.find(title), text.size())));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  "))
    names.insert(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

// The words in backticks, or numbers, of the first column of the table below a heading.
std::set<std::string> rows_below(const std::string& page, const std::string& heading) {
  std::set<std::string> names;
  std::istringstream lines(page.substr(page.find("\n## " + heading + "\n") + 1));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| ")) continue;
    std::istringstream cell(line.substr(2, line.find(" |") - 2));
    for (std::string word; cell >> word;) {
      std::erase_if(word, [](char c) { return c == '`' || c == ','; });
      if (word != "code" && word != "variable") names.insert(word);
    }
  }
  return names;
}

TEST(EveryVerb, SharesExitCodesAndVariablesThatHelpListsAsTheDocsDo) {
  const std::string help = help_of({}), page = doc("interfaces");
  const auto codes = names_below(help, "Exit status:"),
             variables = names_below(help, "Environment variables:");
  EXPECT_THAT(codes, Contains("130"));
  EXPECT_THAT(variables, Contains("CLVET_STATE_DIR"));
  EXPECT_EQ(codes, rows_below(page, "Exit codes"));
  EXPECT_EQ(variables, rows_below(page, "Environment variables"));
}

TEST(EveryVerb, NamesTheKnownWordThatIsNearest) {
  expect_refused(
      {{{"prob"}, "'clvet prob' is not a verb; did you mean 'probe'?"},
       {{"dis"}, "'clvet dis' is not a verb; did you mean 'discover'?"},
       {{"report", "htlm"}, "'clvet report htlm' is not a verb; did you mean 'html'?"},
       {{"run", "m.onnx", "--ouput-dir", "x"}, "did you mean '--output-dir'?"},
       {{"run", "m.onnx", "--ouput-dir=x"}, "did you mean '--output-dir'?"},
       {{"generate", "m.gguf", "--promt", "x"}, "did you mean '--prompt'?"},
       {{"probe", "--tier", "cor"},
        "--tier: 'cor' is not one of 'core', 'full'; did you mean 'core'?"},
       {{"run", "m.onnx", "--layout", "x"}, "--layout: 'x' is not one of 'nchw', 'nhwc'\n"},
       {{"probe", "--lang", "fr"}, "--lang: 'fr' is not one of 'en', 'zh'\n"}});
}

TEST(EveryVerb, TakesAWordOfAListInAnyCase) {
  test::Bench bench;
  const auto upper = bench.run({"run", "none.onnx", "--layout", "NHWC", "--precision", "High"});
  EXPECT_THAT(upper.err, HasSubstr("none.onnx")) << "it reads on";
  const auto chinese = bench.run({"probe", "--help", "--lang", "ZH"});
  EXPECT_THAT(chinese.out, HasSubstr("用法"));
}

// The options of a help text whose values are numbers.
std::vector<std::string> numeric_options(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, type;
    words >> name >> type;
    const bool typed =
        type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
    const bool limited = line.find(" to ") < 28 || line.find(":above 0") < 28;
    if (line.starts_with("  -") && (typed || limited)) names.push_back(name);
  }
  return names;
}

TEST(EveryVerb, SaysOfEachNumberWhatItNeeds) {
  size_t count = 0;
  test::Bench bench;
  for (const std::string& verb : subcommands(help_of({}))) {
    for (const std::string& option : numeric_options(help_of({verb}))) {
      ++count;
      const auto done = bench.run({verb, "x", option, "abc"});
      EXPECT_EQ(done.exit_code, 2);
      EXPECT_THAT(done.err, HasSubstr(option + ": needs a ")) << verb;
      EXPECT_THAT(done.err, HasSubstr(", not 'abc'\n")) << verb;
    }
  }
  EXPECT_GE(count, 15U) << "numbers that take a value";
}

TEST(EveryVerb, SaysWhichNumbersItTakes) {
  expect_refused(
      {{{"probe", "--budget", "abc"}, "--budget: needs a number of seconds above 0, not 'abc'\n"},
       {{"probe", "--budget", "nan"}, "needs a number of seconds above 0, not 'nan'\n"},
       {{"probe", "--budget", "0"}, "needs a number of seconds above 0, not '0'\n"},
       {{"probe", "--jobs", "65"}, "--jobs: needs a whole number from 1 to 64, not '65'\n"},
       {{"probe", "--jobs", "1.5"}, "--jobs: needs a whole number from 1 to 64, not '1.5'\n"},
       {{"run", "m.onnx", "--mean", "1,x,2"}, "--mean: needs a number, not 'x'\n"},
       {{"run", "m.onnx", "--self-check", "1.5"}, "needs a number from 0 to 1, not '1.5'\n"},
       {{"run", "m.onnx", "--self-check", "nan"}, "needs a number from 0 to 1, not 'nan'\n"},
       {{"diagnose", "m.onnx", "--target", "-1"}, "--target: needs a number above 0, not '-1'\n"},
       {{"generate", "m", "--seed", "-1"},
        "--seed: needs a whole number of at least 0, not '-1'"}});
}

TEST(EveryVerb, TakesAPartOfOneAsTheRateOfTheSelfCheck) {
  const auto done = test::Bench().run({"run", "none.onnx", "--self-check", "0.5"});
  EXPECT_THAT(done.err, HasSubstr("none.onnx")) << "it reads on";
}

}  // namespace
}  // namespace clvet
