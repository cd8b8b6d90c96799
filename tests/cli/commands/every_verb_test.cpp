// What holds for each verb, whatever it does. The verbs are those that the program's help lists, so
// a new one needs no line here.
#include <gmock/gmock.h>

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

TEST(EveryVerb, NamesTheWordThatItDoesNotKnow) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{"run", "m.onnx", "--shape", "x=1"}, "'clvet run' has no option '--shape'"},
      {{"check", "a.onnx", "b", "c"}, "'clvet check' takes no argument 'b'"},
      {{"report", "show", "r.json", "--nosuch"}, "'clvet report show' has no option '--nosuch'"},
      {{"--nosuch"}, "'clvet' has no option '--nosuch'"},
      {{"nosuch"}, "'nosuch' is not a verb"},
      {{"report", "nosuch"}, "'nosuch' is not a verb"}};
  test::Bench bench;
  for (const auto& [words, message] : rows) {
    const auto done = bench.run(words);
    EXPECT_EQ(done.exit_code, 2) << message;
    EXPECT_THAT(done.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace clvet
