// The supervisor against workers that end, hang, grow, flood and lie in every way we know of.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "probe/process/process.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

class SupervisorTest : public testing::Test {
 protected:
  void SetUp() override {
    become_subreaper();
    interrupt_requested = false;
    settings_.program = HOSTILE_WORKER;
    settings_.limits.build = {0.4, 0.8};
    settings_.limits.other = {0.3, 1.2};
    settings_.limits.own = 0.3;
    settings_.environment["ASAN_OPTIONS"] = test::sanitizer_options();
    settings_.environment["HOSTILE_FILE"] = dir_ / "orphan";
    stage_ = std::make_unique<StageView>(*StageView::anonymous());
  }
  Worker start(const std::string& deed) {
    settings_.environment["HOSTILE"] = deed;
    auto worker = Worker::start(settings_, *stage_);
    EXPECT_TRUE(worker) << worker.error().message;
    return std::move(*worker);
  }
  Outcome outcome_of(const std::string& deed) {
    Worker worker = start(deed);
    const double started = monotonic_seconds();
    Outcome outcome = worker.call({{"deed", deed}});
    seconds_ = monotonic_seconds() - started;
    EXPECT_EQ(worker.alive(), outcome.kind == OutcomeKind::kReply);
    return outcome;
  }
  pid_t orphan() const { return std::atoi(test::get(dir_ / "orphan").c_str()); }
  static bool gone(pid_t pid) {
    const double until = monotonic_seconds() + 2;
    while (::kill(pid, 0) == 0 && monotonic_seconds() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return ::kill(pid, 0) != 0;
  }
  const test::TempDir dir_;
  WorkerSettings settings_;
  std::unique_ptr<StageView> stage_;
  double seconds_ = 0;
};

TEST_F(SupervisorTest, PassesAReplyOnAndKeepsTheWorker) {
  Worker worker = start("reply");
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = worker.call({{"deed", "reply"}});
    ASSERT_EQ(outcome.kind, OutcomeKind::kReply);
    EXPECT_TRUE(flag_in(outcome.reply, "ok"));
    EXPECT_TRUE(worker.alive());
  }
  EXPECT_TRUE(worker.bury());
  EXPECT_FALSE(worker.alive());
}

TEST_F(SupervisorTest, TellsASignalItsStageAndTheLastWords) {
  const Outcome outcome = outcome_of("abort");
  ASSERT_EQ(outcome.kind, OutcomeKind::kEnded);
  EXPECT_EQ(outcome.exit.signal, SIGABRT);
  EXPECT_EQ(outcome.stage.stage, Stage::kBuild);
  EXPECT_EQ(outcome.stage.call, "clBuildProgram");
  EXPECT_THAT(outcome.captured, HasSubstr("Cannot select: intrinsic %llvm.bifrost.2586"));
  const Outcome other = outcome_of("segfault");
  EXPECT_EQ(other.exit.signal, SIGSEGV);
  EXPECT_EQ(other.stage.stage, Stage::kFinish);
}

TEST_F(SupervisorTest, TakesAnExitForAnEndWhateverItsStatus) {
  const Outcome zero = outcome_of("exit0");
  ASSERT_EQ(zero.kind, OutcomeKind::kEnded);
  EXPECT_EQ(zero.exit.signal, 0);
  EXPECT_EQ(zero.exit.exit_status, 0);
  EXPECT_EQ(zero.stage.stage, Stage::kEnqueue);
  const Outcome seven = outcome_of("exit7");
  EXPECT_EQ(seven.exit.exit_status, 7);
  EXPECT_EQ(seven.stage.stage, std::nullopt);
}

TEST_F(SupervisorTest, EndsAWaitByTheIdleClock) {
  settings_.limits.other.busy = 60;
  const Outcome outcome = outcome_of("hang-idle");
  EXPECT_EQ(outcome.kind, OutcomeKind::kHang);
  EXPECT_EQ(outcome.stage.stage, Stage::kFinish);
  EXPECT_GT(seconds_, 0.25);
  EXPECT_LT(seconds_, 30) << "before the busy clock";
  EXPECT_GT(outcome.driver_seconds, 0.25) << "the call in flight counts";
}

TEST_F(SupervisorTest, EndsALoopByTheBusyClockOnly) {
  const Outcome outcome = outcome_of("hang-busy");
  EXPECT_EQ(outcome.kind, OutcomeKind::kHang);
  EXPECT_EQ(outcome.stage.stage, Stage::kBuild);
  EXPECT_GT(seconds_, 0.7) << "work is not taken for a wait";
  EXPECT_LT(seconds_, 30);
}

TEST_F(SupervisorTest, EndsALoopThatDoesNothingByTheSpinClock) {
  settings_.limits.build = {1000, 1000, 0.3};
  EXPECT_EQ(outcome_of("hang-busy").kind, OutcomeKind::kHang);
  EXPECT_EQ(outcome_of("flood-for-ever").kind, OutcomeKind::kHang) << "what it prints is no work";
}

TEST_F(SupervisorTest, LetsWorkOnNewMemoryGoOnBeyondTheSpinClock) {
  settings_.limits.build = {1000, 1000, 0.3};
  EXPECT_EQ(outcome_of("busy-with-new-pages").kind, OutcomeKind::kReply);
}

TEST_F(SupervisorTest, LetsWorkGoOnBeyondTheIdleClock) {
  settings_.limits.build.busy = settings_.limits.other.busy = 60;  // a loaded machine takes longer
  EXPECT_EQ(outcome_of("busy-but-ends").kind, OutcomeKind::kReply);
}

TEST_F(SupervisorTest, StartsTheClockAnewWithEachStage) {
  EXPECT_EQ(outcome_of("steps").kind, OutcomeKind::kReply);
  EXPECT_GT(seconds_, 0.7);
}

TEST_F(SupervisorTest, EndsAWaitOutsideOfAnyCall) {
  const Outcome outcome = outcome_of("hang-outside");
  EXPECT_EQ(outcome.kind, OutcomeKind::kHang);
  EXPECT_EQ(outcome.stage.stage, std::nullopt);
}

TEST_F(SupervisorTest, EndsAWorkerThatIgnoresEverySignalItCan) {
  EXPECT_EQ(outcome_of("immune").kind, OutcomeKind::kHang);
  EXPECT_LT(seconds_, 30);
}

TEST_F(SupervisorTest, EndsAWorkerThatGrowsBeyondItsLimit) {
  settings_.limits.memory_growth = 200u << 20;
  settings_.limits.build = {30, 60};
  const Outcome first = outcome_of("balloon");
  EXPECT_EQ(first.kind, OutcomeKind::kMemory) << "in its first request";
  EXPECT_EQ(first.stage.stage, Stage::kBuild);
  Worker worker = start("reply");
  ASSERT_EQ(worker.call({{"deed", "reply"}}).kind, OutcomeKind::kReply);
  EXPECT_EQ(worker.call({{"deed", "balloon"}}).kind, OutcomeKind::kMemory) << "in a later one";
}

TEST_F(SupervisorTest, CountsTheMemoryOfWhatAWorkerForked) {
  settings_.limits.memory_growth = 200u << 20;
  settings_.limits.build = {30, 60};
  settings_.limits.own = 30;
  EXPECT_EQ(outcome_of("balloon-in-child").kind, OutcomeKind::kMemory);
  EXPECT_EQ(outcome_of("balloon-in-orphan").kind, OutcomeKind::kMemory);
}

TEST_F(SupervisorTest, TakesAReplyToAnotherRequestForNonsense) {
  EXPECT_EQ(outcome_of("reply-to-another").kind, OutcomeKind::kNonsense);
}

TEST_F(SupervisorTest, SweepsOrphansThatHaveChildrenOfTheirOwn) {
  EXPECT_EQ(outcome_of("orphans-in-a-row-then-abort").kind, OutcomeKind::kEnded);
  ASSERT_GT(orphan(), 0);
  EXPECT_TRUE(gone(orphan())) << orphan();
}

TEST_F(SupervisorTest, StartsItsWorkersUnderALowLimitOfOpenFiles) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(outcome_of("reply").kind, OutcomeKind::kReply);
  raise_descriptor_limit();
  rlimit raised{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_GE(raised.rlim_cur, std::min<rlim_t>(before.rlim_max, 4096));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(SupervisorTest, TellsItsOwnFaultFromThatOfADriver) {
  Worker worker = start("die-at-start");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto fault = own_fault(worker.call({{"deed", "reply"}}));
  ASSERT_TRUE(fault) << "it never came to a driver call";
  EXPECT_EQ(fault->code, ErrorCode::kInternal);
  EXPECT_THAT(fault->message, HasSubstr("status 3"));
  EXPECT_FALSE(own_fault(outcome_of("abort")));
  EXPECT_FALSE(own_fault(outcome_of("hang-idle")));
  EXPECT_FALSE(own_fault(outcome_of("reply")));
}

TEST_F(SupervisorTest, KeepsBothEndsOfAFloodAndNoMore) {
  settings_.limits.own = 60;
  const uint64_t before = process_use(::getpid()).resident;
  const Outcome outcome = outcome_of("flood");
  ASSERT_EQ(outcome.kind, OutcomeKind::kReply);
  EXPECT_GT(outcome.captured_total, 64u << 20);
  EXPECT_LT(outcome.captured.size(), 3 * settings_.limits.captured);
  EXPECT_THAT(outcome.captured.substr(0, 100), HasSubstr("the first words"));
  EXPECT_THAT(outcome.captured.substr(outcome.captured.size() - 100), HasSubstr("the last words"));
  EXPECT_THAT(outcome.captured, HasSubstr("bytes left out"));
#if !defined(__SANITIZE_ADDRESS__)  // which keeps freed memory for a while
  EXPECT_LT(process_use(::getpid()).resident, before + (32u << 20));
#else
  (void)before;
#endif
}

TEST_F(SupervisorTest, KeepsItsClocksWhileAFloodGoesOnForEver) {
  EXPECT_EQ(outcome_of("flood-for-ever").kind, OutcomeKind::kHang);
  EXPECT_LT(seconds_, 5);
}

TEST_F(SupervisorTest, TakesGarbageOnItsSocketForWhatItIs) {
  EXPECT_EQ(outcome_of("garbage").kind, OutcomeKind::kNonsense);
  EXPECT_EQ(outcome_of("deep-message").kind, OutcomeKind::kNonsense);
  EXPECT_EQ(outcome_of("half-a-message").kind, OutcomeKind::kHang) << "the rest never comes";
}

TEST_F(SupervisorTest, KeepsItsClocksWhereTheWorkerClosedEveryDescriptor) {
  const Outcome outcome = outcome_of("close-fds");
  EXPECT_EQ(outcome.kind, OutcomeKind::kHang);
  EXPECT_EQ(outcome.stage.stage, Stage::kBuild) << "the page is mapped";
  EXPECT_LT(seconds_, 2);
}

TEST_F(SupervisorTest, ReturnsAtOnceThoughAnOrphanHoldsThePipeAndSweepsIt) {
  const Outcome outcome = outcome_of("orphan-then-abort");
  EXPECT_EQ(outcome.kind, OutcomeKind::kEnded);
  EXPECT_EQ(outcome.exit.signal, SIGABRT);
  EXPECT_LT(seconds_, 1.5);
  ASSERT_GT(orphan(), 0);
  EXPECT_TRUE(gone(orphan())) << orphan();
}

TEST_F(SupervisorTest, SweepsAnOrphanWhenItsWorkerIsBuried) {
  {
    Worker worker = start("orphan-then-reply");
    const double started = monotonic_seconds();
    EXPECT_EQ(worker.call({{"deed", "orphan-then-reply"}}).kind, OutcomeKind::kReply);
    EXPECT_LT(monotonic_seconds() - started, 1.5);
    ASSERT_GT(orphan(), 0);
  }
  EXPECT_TRUE(gone(orphan()));
}

TEST_F(SupervisorTest, LeavesOtherWorkersAloneWhenItSweeps) {
  auto stage = StageView::anonymous();
  settings_.environment["HOSTILE"] = "reply";
  auto other = Worker::start(settings_, *stage);
  ASSERT_TRUE(other);
  ASSERT_EQ(other->call({{"deed", "reply"}}).kind, OutcomeKind::kReply);
  EXPECT_EQ(outcome_of("abort").kind, OutcomeKind::kEnded);
  EXPECT_TRUE(other->alive());
}

TEST_F(SupervisorTest, NoticesAWorkerThatEndedBetweenTwoCalls) {
  Worker worker = start("reply-then-abort");
  EXPECT_EQ(worker.call({{"deed", "reply-then-abort"}}).kind, OutcomeKind::kReply);
  const double until = monotonic_seconds() + 2;
  while (worker.alive() && monotonic_seconds() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_FALSE(worker.alive());
}

TEST_F(SupervisorTest, TellsHowAWorkerEndedThatNeverTookItsRequest) {
  Worker worker = start("die-at-start");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Outcome outcome = worker.call({{"deed", "reply"}});
  EXPECT_EQ(outcome.kind, OutcomeKind::kEnded);
  EXPECT_EQ(outcome.exit.exit_status, 3);
}

TEST_F(SupervisorTest, MakesBytesOfTheDriverPrintable) {
  const Outcome outcome = outcome_of("bad-bytes");
  EXPECT_EQ(outcome.captured, "Mali\xEF\xBF\xBD\xEF\xBF\xBD[31m\xEF\xBF\xBD");
  EXPECT_EQ(text_in(outcome.reply, "text"), "\xEF\xBF\xBD");
}

TEST_F(SupervisorTest, StopsAtTheDeadlineAndOnAnInterrupt) {
  settings_.deadline = monotonic_seconds() + 0.15;
  EXPECT_EQ(outcome_of("hang-idle").kind, OutcomeKind::kDeadline);
  settings_.deadline = 0;
  std::thread user([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    interrupt_requested = true;
  });
  EXPECT_EQ(outcome_of("hang-idle").kind, OutcomeKind::kInterrupted);
  user.join();
  interrupt_requested = false;
}

TEST_F(SupervisorTest, SaysWhereTheProgramCannotBeStarted) {
  settings_.program = "/nonexistent/clvet";
  const auto worker = Worker::start(settings_, *stage_);
  ASSERT_FALSE(worker);
  EXPECT_THAT(worker.error().message, HasSubstr("/nonexistent/clvet"));
}

TEST_F(SupervisorTest, TakesItsWorkerAlongWhenItIsKilled) {
  settings_.program = CLVET_PROGRAM;
  settings_.environment = {{"FAKE_CL_TARGET", "none"},
                           {"FAKE_CL_LOG", dir_ / "log"},
                           {"FAKE_CL_SCENARIO", test::scenario("enumerate-hang.json")}};
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    auto worker = Worker::start(settings_, *stage_);
    if (worker) worker->call({{"do", "enumerate"}, {"library", FAKE_CL}});
    ::_exit(0);
  }
  const double until = monotonic_seconds() + 10;
  while (test::get(dir_ / "log").empty() && monotonic_seconds() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const pid_t worker = std::atoi(test::get(dir_ / "log").substr(4).c_str());
  ASSERT_GT(worker, 0) << test::get(dir_ / "log");
  ASSERT_EQ(::kill(worker, 0), 0);
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
  // Being this process's child now (it is a subreaper), it must be reaped as well.
  int status = 0;
  pid_t reaped = 0;
  const double end = monotonic_seconds() + 5;
  while ((reaped = ::waitpid(worker, &status, WNOHANG)) == 0 && monotonic_seconds() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(reaped, worker) << "it lives on";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace
}  // namespace clvet
