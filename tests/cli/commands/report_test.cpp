// `clvet report` as scripts meet it: exit codes, files, options.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/cli/terminal.h"
#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/probe/samples.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportCommand : public testing::Test {
 protected:
  ReportCommand() {
    test::put(board_, report_to_json(test::sample_report()));
    test::put(other_, report_to_json(Report{}));
  }
  test::Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    return bench_.run(arguments);
  }
  test::Bench bench_;
  const std::string board_ = bench_ / "board.json", other_ = bench_ / "other.json";
  const std::string out_ = bench_ / "out.html";
};

TEST_F(ReportCommand, ShowsAReportAsTextWithoutColoursInAFile) {
  const auto done = run({"show", board_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Mali-G78"));
  EXPECT_THAT(done.out, Not(HasSubstr("\x1B")));
  EXPECT_EQ(done.err, "");
}

TEST_F(ReportCommand, WritesThePageToANewFileWhereItWouldFillATerminal) {
  const test::TempDir folder;
  const auto html = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"report", "html", board_};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_on_terminal(words, bench_.environment(), 80, folder.path());
  };
  EXPECT_EQ(html({}).shown, "written: board.html\r\n");
  EXPECT_THAT(test::get(folder / "board.html"), StartsWith("<!"));
  test::put(folder / "board.html", "mine");
  EXPECT_EQ(html({}).shown, "written: board-2.html\r\n");
  EXPECT_EQ(html({other_}).shown, "written: reports.html\r\n");
  EXPECT_EQ(test::get(folder / "board.html"), "mine") << "nothing is overwritten";
  EXPECT_EQ(html({"--quiet"}).shown, "");
  EXPECT_EQ(html({"--out", "given.html"}).shown, "written: given.html\r\n");
}

TEST_F(ReportCommand, GivesThePageToAPipe) {
  const auto done = run({"html", board_});
  EXPECT_THAT(done.out, StartsWith("<!"));
  EXPECT_THAT(done.out, Not(HasSubstr("written:")));
}

TEST_F(ReportCommand, ShowsTheStateFoldersReportWhereNoneIsNamed) {
  const auto none = run({"show"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr(bench_.state() + "/report.json"));
  EXPECT_THAT(none.err, HasSubstr("clvet probe"));
  std::filesystem::create_directories(bench_.state());
  test::put(bench_.state() + "/report.json", report_to_json(test::sample_report()));
  EXPECT_THAT(run({"show"}).out, HasSubstr("Mali-G78"));
}

TEST_F(ReportCommand, NamesTheFileAboveEachOfSeveralReports) {
  const auto done = run({"show", board_, other_});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out, StartsWith(board_ + ":\n"));
  EXPECT_THAT(done.out, HasSubstr("\n" + other_ + ":\nNo OpenCL device"));
}

TEST_F(ReportCommand, WritesAPageAndSaysWhere) {
  const auto done = run({"html", board_, "--out", out_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "written: " + out_ + "\n");
  EXPECT_THAT(test::get(out_), StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(run({"html", board_}).out, test::get(out_)) << "the same page on standard output";
}

TEST_F(ReportCommand, PutsSeveralReportsOnOnePage) {
  run({"html", board_, other_, "--out", out_});
  const std::string page = test::get(out_);
  EXPECT_THAT(page, HasSubstr("OpenCL reports of 2 machines"));
  EXPECT_THAT(page, HasSubstr("board.json"));
  EXPECT_THAT(page, HasSubstr("other.json"));
}

TEST_F(ReportCommand, MakesTenLinesForABugReportWithoutTheNamesOfThisMachine) {
  Report report = test::sample_report();
  report.host.board = "board of zaphod";
  report.host.env = {{"LD_LIBRARY_PATH", "/home/trillian/lib"}};
  test::put(board_, report_to_json(report));
  bench_.environment()["USER"] = "zaphod";
  const auto done = run({"summary", board_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 10);
  EXPECT_THAT(done.out, StartsWith("tool: clvet"));
  EXPECT_THAT(done.out, HasSubstr("board of (removed)"));
  EXPECT_THAT(done.out, Not(HasSubstr("trillian")));
  EXPECT_EQ(run({"summary", board_, "--out", out_}).out, "written: " + out_ + "\n");
  EXPECT_EQ(test::get(out_), done.out);
  EXPECT_EQ(run({"summary", bench_ / "none.json"}).exit_code, 2);
}

TEST_F(ReportCommand, GivesTheReportsAsJson) {
  const auto one = run({"show", board_, "--json", "-"});
  EXPECT_EQ(one.out, test::get(board_));
  const test::JsonFields two(run({"show", board_, other_, "--json", "-"}).out);
  ASSERT_EQ(two.size(""), 2u);
  EXPECT_EQ(two.text("/1/schema"), "clvet.report/1");
}

TEST_F(ReportCommand, PrintsNothingWithQuiet) {
  const auto done = run({"html", board_, "--out", out_, "--quiet"});
  EXPECT_EQ(done.out + done.err, "");
  EXPECT_TRUE(std::filesystem::exists(out_));
}

TEST_F(ReportCommand, RefusesAFileThatIsNoReportAndWritesNothing) {
  test::put(bench_ / "cut.json", test::get(board_).substr(0, 1000));
  for (const std::string& bad :
       {bench_ / "cut.json", bench_ / "absent.json", std::string("/tmp")}) {
    for (const char* what : {"show", "html"}) {
      const auto done = run({what, board_, bad, "--out", out_});
      EXPECT_EQ(done.exit_code, 2) << bad;
      EXPECT_THAT(done.err, HasSubstr(bad));
      EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
      EXPECT_FALSE(std::filesystem::exists(out_));
    }
  }
}

TEST_F(ReportCommand, RefusesAPlaceItCannotWriteTo) {
  const auto done = run({"html", board_, "--out", "/nonexistent/page.html"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("/nonexistent/page.html"));
}

TEST_F(ReportCommand, WantsASubcommandItKnows) {
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"emit", board_}).exit_code, 2);
  EXPECT_THAT(run({"html", "--help"}).out, HasSubstr("Examples:"));
}

TEST_F(ReportCommand, MakesAPageOfWhatAHostileDriverLeftBehind) {
  test::Bench hostile("none", test::scenario("name-bad-utf8.json"));
  hostile.probe({"--case", "softmax"});
  const auto done = hostile.run({"report", "html", hostile.report_path()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("wrong in read"));
  EXPECT_THAT(done.out, HasSubstr("\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace clvet
