// The public library with the real clvet program, over the hostile driver's built-in device.
#include <gmock/gmock.h>
#include "clvet/clvet.h"

#include <string>
#include <vector>

#include "tests/support.h"

namespace {

using clvet::ErrorCode;
using testing::HasSubstr;

class LibraryWithTheProgram : public testing::Test {
 protected:
  clvet::ProbeOptions probing() const {
    clvet::ProbeOptions options;
    options.libraries = {FAKE_CL};
    options.state_dir = state_.path();
    options.program = CLVET_PROGRAM;
    return options;
  }
  const clvet::test::TempDir state_;
};

TEST_F(LibraryWithTheProgram, ProbesAndKeepsTheReportThatIsReadAgain) {
  clvet::ProbeOptions options = probing();
  options.budget_seconds = 2;
  std::vector<std::string> lines;
  options.progress = [&](const std::string& line) {
    lines.push_back(line);
    return true;
  };
  const auto report = clvet::probe(options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->devices.size(), 1u);
  EXPECT_EQ(report->devices[0].name, "Mali-G78 r0p1");
  EXPECT_THAT(report->devices[0].library, HasSubstr("libfake_cl.so"));
  EXPECT_TRUE(report->devices[0].best.empty()) << "its kernels do nothing";
  EXPECT_FALSE(report->complete);
  EXPECT_THAT(report->json, HasSubstr("clvet.report/1"));
  EXPECT_FALSE(lines.empty());
  const auto again = clvet::read_report({}, state_.path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->json, report->json);
}

TEST_F(LibraryWithTheProgram, SaysWhatTheProgramRefuses) {
  clvet::ProbeOptions options = probing();
  options.device = "no such device";
  const auto none = clvet::probe(options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found) << none.error().message;
  EXPECT_THAT(none.error().message, HasSubstr("no such device"));
  options = probing();
  options.report = "/proc/report.json";
  const auto unwritable = clvet::probe(options);
  ASSERT_FALSE(unwritable);
  EXPECT_EQ(unwritable.error().code, ErrorCode::invalid_argument) << unwritable.error().message;
}

TEST_F(LibraryWithTheProgram, SaysThatNoDeviceIsMeantWhereAnOlderReportHasOne) {
  clvet::ProbeOptions options = probing();
  options.budget_seconds = 2;
  ASSERT_TRUE(clvet::probe(options));
  options.device = "no such device";
  const auto none = clvet::probe(options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found) << none.error().message;
}

TEST_F(LibraryWithTheProgram, AMachineWithoutDevicesHasAReport) {
  clvet::ProbeOptions options = probing();
  options.libraries = {"/nowhere/libOpenCL.so"};
  const auto report = clvet::probe(options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->devices.empty());
}

}  // namespace
