// What is said of a worker that was asked to open a device and did not.
#include "probe/trial/opening.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "base/language.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/supervisor.h"

namespace clvet {
namespace {

Outcome replied(nlohmann::json reply) {
  Outcome outcome;
  outcome.reply = std::move(reply);
  return outcome;
}

Outcome ended(OutcomeKind kind, int signal = 0, int status = 0) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.exit.signal = signal;
  outcome.exit.exit_status = status;
  outcome.stage.stage = Stage::kEnumerate;
  outcome.stage.call = "clGetDeviceIDs";
  outcome.wall_seconds = 10;
  return outcome;
}

TEST(OpenDevice, IsShownByAnAnswerWithoutErrorAndWithoutLieAlone) {
  EXPECT_TRUE(shows_open_device(replied({{"call", "clCreateCommandQueue"}, {"cl_error", 0}})));
  EXPECT_FALSE(shows_open_device(replied({{"cl_error", -6}})));
  EXPECT_FALSE(shows_open_device(replied({{"cl_error", 0}, {"lie", "success and no queue"}})));
  EXPECT_FALSE(shows_open_device(replied(nlohmann::json::object())));
  EXPECT_FALSE(shows_open_device(ended(OutcomeKind::kHang)));
}

TEST(DeviceThatIsNotOpen, IsToldWithTheCallAndTheCause) {
  struct Row {
    Outcome outcome;
    Verdict verdict;
    std::string why;
  };
  const std::vector<Row> rows = {
      {replied({{"call", "clCreateContext"}, {"cl_error", -6}}), Verdict::kLaunchError,
       "clCreateContext: CL_OUT_OF_HOST_MEMORY"},
      {replied({{"call", "clCreateContext"},
                {"cl_error", 0},
                {"lie", "clCreateContext returned success and no context"}}),
       Verdict::kLie, "clCreateContext returned success and no context"},
      {replied({{"outcome", "not-found"}, {"reason", "there is no such file"}}),
       Verdict::kLaunchError, "there is no such file"},
      {replied({{"cl_error", -6}}), Verdict::kLaunchError, "CL_OUT_OF_HOST_MEMORY"},
      {replied({{"nonce", "1"}}), Verdict::kToolError,
       "the answer of the process cannot be read; the driver may have overwritten it"},
      {ended(OutcomeKind::kNonsense), Verdict::kToolError,
       "clGetDeviceIDs: the answer of the process cannot be read; the driver may have "
       "overwritten it"},
      {ended(OutcomeKind::kEnded, 11), Verdict::kCrash,
       "clGetDeviceIDs: signal 11 ended the process"},
      {ended(OutcomeKind::kEnded, 0, 1), Verdict::kCrash,
       "clGetDeviceIDs: the driver ended the process with status 1"},
      {ended(OutcomeKind::kHang), Verdict::kHang, "clGetDeviceIDs: not finished after 10 s"},
      {ended(OutcomeKind::kMemory), Verdict::kOutOfMemory,
       "clGetDeviceIDs: stopped: the process used more memory than allowed"},
      {ended(OutcomeKind::kUnreapable), Verdict::kDeviceLost,
       "clGetDeviceIDs: the process cannot be killed: it hangs in the kernel driver"},
  };
  for (const Row& row : rows) {
    const VerdictReport failure = opening_failure(row.outcome);
    EXPECT_EQ(failure.verdict, row.verdict) << row.why;
    EXPECT_EQ(failure.evidence.note, "the device could not be opened: " + row.why);
    EXPECT_NE(translated(failure.evidence.note, Language::kChinese), failure.evidence.note);
    EXPECT_EQ(failure.evidence.call, row.outcome.kind == OutcomeKind::kReply
                                         ? row.outcome.reply.value("call", "")
                                         : "clGetDeviceIDs");
  }
}

TEST(DeviceThatIsNotOpen, KeepsWhatTheDriverPrinted) {
  Outcome outcome = ended(OutcomeKind::kEnded, 6);
  outcome.captured = "mali: no such device";
  EXPECT_EQ(opening_failure(outcome).evidence.stderr_text, "mali: no such device");
  EXPECT_EQ(opening_failure(outcome).stage, Stage::kEnumerate);
}

}  // namespace
}  // namespace clvet
