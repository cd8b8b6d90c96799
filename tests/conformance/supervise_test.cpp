// The program runs itself as a worker; a stand-in that dies on command shows who is blamed.
#include "tests/conformance/supervise.h"
#include "base/json.h"  // IWYU pragma: keep

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <initializer_list>
#include <ios>
#include <ostream>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "tests/conformance/results.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"
#include "tests/support.h"

namespace clvet::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Case> cases_named(std::initializer_list<const char*> names) {
  std::vector<Case> cases;
  for (const char* name : names) cases.push_back({name, {}, {"Add"}, true, false});
  return cases;
}

Result<std::vector<CaseResult>> run(const std::vector<Case>& cases) {
  Supervision supervision;
  const test::TempDir dir;
  supervision.folder = dir.path();
  supervision.arguments = {"conformance_test", "--stand-in", supervision.folder};
  supervision.limit_seconds = 2;
  return run_supervised(cases, supervision);
}

std::vector<std::string> words(const std::vector<CaseResult>& results) {
  std::vector<std::string> out;
  for (const CaseResult& row : results) out.push_back(row.name + " " + row.word);
  return out;
}

TEST(Supervise, ACrashIsBlamedOnItsCaseAndTheOthersAreKept) {
  const auto results = run(cases_named({"good-1", "abort", "good-2", "exit", "abort-2"}));
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT(words(*results), ElementsAre("good-1 host", "abort crash", "good-2 host",
                                           "exit crash", "abort-2 crash"));
  EXPECT_THAT((*results)[1].detail, HasSubstr("Aborted"));
  EXPECT_THAT((*results)[3].detail, HasSubstr("ended with 0"));
}

TEST(Supervise, ACaseThatHangsIsStopped) {
  const auto results = run(cases_named({"hang", "good"}));
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT(words(*results), ElementsAre("hang crash", "good host"));
  EXPECT_THAT((*results)[0].detail, HasSubstr("no result within 2 s"));
}

TEST(Supervise, AWorkerThatCannotBeginIsAnErrorAndNoCrash) {
  const auto results = run(cases_named({"refuse"}));
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message, HasSubstr("no report here"));
}

int stand_in(const std::string& folder) {
  const auto list = read_file(folder + "/cases");
  if (!list) return kRefused;
  std::ofstream out(folder + "/results", std::ios::app);
  for (const std::string& name : split(*list, '\n')) {
    if (name.starts_with("abort")) ::abort();
    if (name == "exit") ::_exit(0);
    if (name == "hang") ::pause();
    if (name == "refuse") {
      (void)!::write(2, "no report here", 14);
      return kRefused;
    }
    if (!name.empty()) out << to_json({name, kHost, {}, {}}).dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace clvet::conformance

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--stand-in") {
    return clvet::conformance::stand_in(argv[2]);
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
