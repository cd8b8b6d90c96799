// Completion in a real bash, and the manual pages under groff where it is installed.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Completion : public testing::Test {
 protected:
  Completion() { test::put(bench_ / "c.bash", bench_.run({"completion", "bash"}).out); }
  // What bash offers for the last of `words`, as the shell parts them.
  std::vector<std::string> offered(const std::vector<std::string>& words) {
    std::string script =
        "set -u; . " + (bench_ / "c.bash") + "\ncd " + (bench_ / "") + "\nCOMP_WORDS=(";
    for (const std::string& word : words) script += "'" + word + "' ";
    script +=
        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_clvet\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    test::put(bench_ / "try.sh", script);
    const std::string command =
        "bash '" + (bench_ / "try.sh") + "' > '" + (bench_ / "out") + "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << test::get(bench_ / "out");
    return lines_of(test::get(bench_ / "out"));
  }
  test::Bench bench_;
};

TEST_F(Completion, OffersVerbsAndThoseOfAVerb) {
  const auto verbs = offered({"clvet", ""});
  EXPECT_THAT(verbs, IsSupersetOf({"bench", "probe", "report", "run", "schema"}));
  EXPECT_THAT(verbs, Not(Contains("worker")));
  EXPECT_THAT(offered({"clvet", "ge"}), ElementsAre("generate"));
  EXPECT_THAT(offered({"clvet", "--lang", "zh", "report", ""}),
              ElementsAre("show", "html", "summary"));
}

TEST_F(Completion, OffersOptionsOfTheVerbThatIsTyped) {
  EXPECT_THAT(offered({"clvet", "run", "m.onnx", "--prec"}), ElementsAre("--precision"));
  EXPECT_THAT(offered({"clvet", "generate", "--"}),
              IsSupersetOf({"--prompt", "--teacher-forced", "--threads", "--lang", "--help"}));
  EXPECT_THAT(offered({"clvet", "report", "html", "--o"}), ElementsAre("--out"));
  EXPECT_THAT(offered({"clvet", "probe", "--prec"}), ElementsAre(""));
}

TEST_F(Completion, OffersTheWordsThatAnOptionTakes) {
  EXPECT_THAT(offered({"clvet", "run", "--precision", "n"}), ElementsAre("normal"));
  EXPECT_THAT(offered({"clvet", "probe", "--tier", ""}), ElementsAre("core", "full"));
  EXPECT_THAT(offered({"clvet", "run", "--weights", "="}), ElementsAre("auto", "buffer", "image"));
  EXPECT_THAT(offered({"clvet", "run", "--weights", "=", "im"}), ElementsAre("image"));
  EXPECT_THAT(offered({"clvet", "run", "--top", ""}), ElementsAre(""));
}

TEST_F(Completion, OffersFilesForModelsAndOptionsThatTakeThem) {
  test::put(bench_ / "model with blank.onnx", "");
  EXPECT_THAT(offered({"clvet", "run", "mod"}), ElementsAre("model with blank.onnx"));
  EXPECT_THAT(offered({"clvet", "run", "--plan", "model"}), ElementsAre("model with blank.onnx"));
}

TEST_F(Completion, IsPrintedForEachShellAndNamesEveryOptionOfRun) {
  const std::string help = bench_.run({"run", "--help"}).out;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const auto done = bench_.run({"completion", shell});
    ASSERT_EQ(done.exit_code, 0);
    for (const std::string option : {"self-check", "image-size", "precision"}) {
      EXPECT_THAT(help, HasSubstr("--" + option));
      EXPECT_THAT(done.out, HasSubstr((shell == "fish" ? "-l " : "--") + option)) << shell;
    }
  }
  EXPECT_EQ(bench_.run({"completion", "tcsh"}).exit_code, 2);
}

TEST_F(Completion, IsWhatEachShellThatIsInstalledCanRead) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    test::put(bench_ / shell, bench_.run({"completion", shell}).out);
    const std::string command =
        "! command -v " + shell + " >/dev/null || " + shell + " -n '" + (bench_ / shell) + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << shell;
  }
}

TEST_F(Completion, IsNotListedInTheHelp) {
  EXPECT_THAT(bench_.run({"--help"}).out,
              Not(testing::AnyOf(HasSubstr("completion"), HasSubstr("manual pages"))));
}

TEST(Manual, HasAPageForEachVerbThatGroffTakesWithoutAWarning) {
  test::Bench bench;
  for (const std::string language : {"en", "zh"}) {
    const std::string folder = bench / ("man-" + language);
    ASSERT_EQ(bench.run({"--lang", language, "manual", folder}).exit_code, 0);
    for (const char* name : {"clvet.1", "clvet-run.1", "clvet-report-html.1", "clvet-bench.1"})
      EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
    if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "groff is not installed";
    for (const auto& page : std::filesystem::directory_iterator(folder)) {
      const std::string command = "groff -K utf8 -man -ww -Tutf8 '" + page.path().string() +
                                  "' > /dev/null 2> '" + (bench / "warnings") + "'";
      EXPECT_EQ(std::system(command.c_str()), 0);
      EXPECT_EQ(test::get(bench / "warnings"), "") << page.path();
    }
  }
}

TEST(Manual, BreaksLinesBeforeIdeographsAlone) {
  test::Bench bench;
  bench.run({"--lang", "zh", "manual", bench / "man"});
  const std::string page = test::get(bench / "man/clvet-cache.1");
  EXPECT_THAT(page, HasSubstr("保\\:存"));
  EXPECT_THAT(page, Not(HasSubstr("\\:,")));
}

TEST(Manual, SaysWhatHelpSays) {
  test::Bench bench;
  bench.run({"manual", bench / "man"});
  const std::string page = test::get(bench / "man/clvet-run.1");
  for (const char* part :
       {"clvet\\-run \\- run an ONNX network", "\\fB\\-\\-top\\fR \\fIK\\fR",
        "(auto, low, normal, high)", "Exit status: 0", ".SH EXAMPLES", "\\fIMODEL\\fR"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_EQ(bench.run({"manual", "/proc/man"}).exit_code, 2);
}

}  // namespace
}  // namespace clvet
