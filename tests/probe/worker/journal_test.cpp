#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/worker/journal.h"
#include "tests/probe/samples.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::TempDir;
using testing::HasSubstr;

class JournalTest : public testing::Test {
 protected:
  const std::string path() const { return dir_ / "probe.journal"; }
  Result<Journal> open(bool fresh = false, const std::string& kernels = "kernels") {
    return Journal::open(path(), kernels, fresh);
  }
  // What a session leaves that is ended in the middle.
  std::string left_by(const std::function<void(Journal&)>& work) {
    auto journal = open();
    EXPECT_TRUE(journal) << journal.error().message;
    work(*journal);
    return test::get(path());
  }
  void replace(const std::string& from, const std::string& to) {
    std::string text = test::get(path());
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    test::put(path(), text);
  }
  void expect_refused_and_untouched(const std::string& text) {
    test::put(path(), text);
    const auto journal = open();
    ASSERT_FALSE(journal) << text;
    EXPECT_EQ(journal.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(journal.error().message, HasSubstr(path()));
    EXPECT_THAT(journal.error().message, HasSubstr("--fresh"));
    EXPECT_EQ(test::get(path()), text);
    EXPECT_TRUE(open(true)) << "fresh starts over";
  }
  const TempDir dir_;
};

const VerdictReport kPassed = test::sample_verdict(Verdict::kPass);
const VerdictReport kCrashed = test::sample_verdict(Verdict::kCrash);

TEST_F(JournalTest, KeepsAFinalVerdict) {
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("k", 1, false));
    ASSERT_TRUE(journal.end("k", kCrashed, true));
  });
  const auto journal = open();
  const JournalEntry* entry = journal->find("k");
  ASSERT_TRUE(entry && entry->verdict);
  EXPECT_EQ(entry->verdict->verdict, Verdict::kCrash);
  EXPECT_EQ(entry->verdict->evidence.stderr_text, kCrashed.evidence.stderr_text);
  EXPECT_FALSE(entry->in_flight);
  EXPECT_EQ(journal->find("other"), nullptr);
}

TEST_F(JournalTest, ForgetsTheVerdictOfACaseThatWasBegunAgainAndDidNotEnd) {
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("k", 1, false));
    ASSERT_TRUE(journal.end("k", kPassed, true));
    ASSERT_TRUE(journal.begin("k", 1, false));
  });
  const auto journal = open();
  const JournalEntry* entry = journal->find("k");
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->verdict);
  EXPECT_TRUE(entry->in_flight);
  EXPECT_EQ(entry->interruptions, 1);
}

TEST_F(JournalTest, TellsTheCaseInFlightAndItsBoot) {
  left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("k", 1, false)); });
  {
    const auto journal = open();
    const JournalEntry* entry = journal->find("k");
    ASSERT_TRUE(entry);
    EXPECT_TRUE(entry->in_flight);
    EXPECT_FALSE(entry->verdict);
    EXPECT_FALSE(entry->careful);
    EXPECT_EQ(entry->attempts, 0) << "an interruption is no attempt";
    EXPECT_EQ(entry->boot_id, boot_id());
  }
  replace(boot_id(), "another-boot");
  EXPECT_EQ(open()->find("k")->boot_id, "another-boot");
}

TEST_F(JournalTest, GivesEachCaseTheBootOfTheSessionThatBeganIt) {
  left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("old", 1, true)); });
  replace(boot_id(), "another-boot");
  left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("new", 1, false)); });
  const auto journal = open();
  EXPECT_EQ(journal->find("old")->boot_id, "another-boot");
  EXPECT_TRUE(journal->find("old")->careful);
  EXPECT_EQ(journal->find("new")->boot_id, boot_id());
}

TEST_F(JournalTest, CountsAttemptsThatEndedWithoutAFinalVerdict) {
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("k", 1, false));
    ASSERT_TRUE(journal.end("k", kCrashed, false));
    ASSERT_TRUE(journal.begin("k", 2, false));
  });
  const auto journal = open();
  const JournalEntry* entry = journal->find("k");
  EXPECT_EQ(entry->attempts, 1);
  EXPECT_TRUE(entry->in_flight);
  ASSERT_TRUE(entry->last_attempt);
  EXPECT_EQ(entry->last_attempt->verdict, Verdict::kCrash);
  EXPECT_FALSE(entry->verdict);
}

TEST_F(JournalTest, CutAnywhereInItsLastLineLosesThatRecordAlone) {
  const std::string whole = left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("a", 1, false));
    ASSERT_TRUE(journal.end("a", kPassed, true));
    ASSERT_TRUE(journal.begin("b", 1, false));
    ASSERT_TRUE(journal.end("b", kPassed, true));
  });
  const size_t last = whole.rfind("{\"end\"");
  for (size_t size = last; size < whole.size() - 1; size += 1 + (size - last) / 8) {
    test::put(path(), whole.substr(0, size));
    {
      const auto journal = open();
      ASSERT_TRUE(journal) << size << ": " << journal.error().message;
      EXPECT_TRUE(journal->find("a")->verdict);
      EXPECT_TRUE(journal->find("b")->in_flight) << size;
    }
    // The next session's records follow the torn line and are read all the same.
    left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("c", 1, false)); });
    EXPECT_TRUE(open()->find("c")->in_flight) << size;
  }
}

TEST_F(JournalTest, ToleratesTheZerosThatAStoppedMachineLeaves) {
  const std::string whole =
      left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("a", 1, false)); });
  test::put(path(), whole + std::string(4096, '\0'));
  left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("b", 1, false)); });
  const auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_TRUE(journal->find("a")->in_flight);
  EXPECT_TRUE(journal->find("b")->in_flight);
}

TEST_F(JournalTest, RefusesAFileThatIsNoJournalAndLeavesItUntouched) {
  expect_refused_and_untouched("");
  expect_refused_and_untouched("\n");
  expect_refused_and_untouched("some notes of mine\n");
  expect_refused_and_untouched("{\"schema\":\"clvet.report/1\"}\n");
  expect_refused_and_untouched("[1,2]\n");
  expect_refused_and_untouched("{\"schema\":7}\n");
  expect_refused_and_untouched(
      std::string("\x7F"
                  "ELF\0\0\0",
                  7));
}

TEST_F(JournalTest, RefusesForeignLinesAndLeavesThemUntouched) {
  const std::string head = "{\"schema\":\"clvet.journal/1\",\"kernel_set\":\"kernels\"}\n";
  expect_refused_and_untouched(head + "garbage\n");
  expect_refused_and_untouched(head + "[1]\n");
  expect_refused_and_untouched(head + "{\"unknown\":1}\n");
  expect_refused_and_untouched(head + "{\"end\":\"k\",\"final\":true,\"verdict\":{\"id\":3}}\n");
  expect_refused_and_untouched(head + "{\"end\":\"k\"}\n");
}

TEST_F(JournalTest, WithWrongTypesNeverThrows) {
  const std::string head = "{\"schema\":\"clvet.journal/1\",\"kernel_set\":\"kernels\"}\n";
  for (const char* line : {"{\"begin\":3,\"careful\":\"no\",\"attempt\":null}", "{\"session\":{}}",
                           "{\"end\":[],\"final\":\"yes\",\"verdict\":[]}"}) {
    test::put(path(), head + line + "\n");
    open();
  }
}

TEST_F(JournalTest, OfOtherKernelsIsStartedOver) {
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("k", 1, false));
    ASSERT_TRUE(journal.end("k", kPassed, true));
  });
  {
    const auto journal = open(false, "newer kernels");
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->find("k"), nullptr);
  }
  EXPECT_THAT(test::get(path()), HasSubstr("newer kernels"));
}

TEST_F(JournalTest, ForgetsEverythingWhenAskedTo) {
  left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("k", 1, false)); });
  EXPECT_EQ(open(true)->find("k"), nullptr);
}

TEST_F(JournalTest, HeldByAnotherIsBusyAndNamesIt) {
  auto held = open();
  ASSERT_TRUE(held);
  for (const bool fresh : {false, true}) {
    const auto second = open(fresh);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kBusy);
    EXPECT_THAT(second.error().message, HasSubstr("CLVET_STATE_DIR"));
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid()))) << "who holds it";
  }
  EXPECT_TRUE(held->begin("k", 1, false)) << "the holder is not disturbed";
  EXPECT_THAT(test::get(path()), HasSubstr("\"begin\":\"k\""));
}

TEST_F(JournalTest, IsReleasedByTheDeathOfItsHolder) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto journal = open();
    if (!journal || !journal->begin("k", 1, false)) ::_exit(1);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_TRUE(journal->find("k")->in_flight);
}

// As a worker between its fork and its exec.
TEST_F(JournalTest, WaitsForAChildThatADeadHolderLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto journal = open();
    if (!journal) ::_exit(1);
    if (::fork() == 0) {
      ::usleep(200000);
      ::_exit(0);
    }
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto journal = open();
  EXPECT_TRUE(journal) << journal.error().message;
}

TEST_F(JournalTest, SyncsOneRecordForEachAttempt) {
  auto journal = open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(journal->begin("k" + std::to_string(i), 1, false));
    ASSERT_TRUE(journal->end("k" + std::to_string(i), kPassed, true));
  }
  EXPECT_EQ(journal->synced_records(), 3);
}

TEST_F(JournalTest, CountsHowOftenACaseWasInterrupted) {
  for (int times = 1; times <= 3; ++times) {
    left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("k", 1, false)); });
    EXPECT_EQ(open()->find("k")->interruptions, times);
  }
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("k", 1, false));
    ASSERT_TRUE(journal.end("k", kCrashed, false));
  });
  EXPECT_EQ(open()->find("k")->interruptions, 3) << "one that ended is none";
}

TEST_F(JournalTest, ThatIsStoppedCountsNoInterruption) {
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.begin("k", 1, false));
    journal.stop();
  });
  const auto journal = open();
  EXPECT_EQ(journal->find("k")->interruptions, 0);
  EXPECT_FALSE(journal->find("k")->in_flight);
}

TEST_F(JournalTest, RemembersWhatBroughtTheProbeDownWhenTheWorkIsDone) {
  left_by([](Journal& journal) {
    ASSERT_TRUE(journal.end("k", test::sample_verdict(Verdict::kInterrupted), true));
    ASSERT_TRUE(journal.end("other", kPassed, true));
    ASSERT_TRUE(journal.finish());
  });
  const auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(journal->find("k"));
  EXPECT_EQ(journal->find("k")->verdict->verdict, Verdict::kInterrupted);
  EXPECT_EQ(journal->find("other"), nullptr);
}

TEST_F(JournalTest, ThatOthersMayWriteIsRefused) {
  left_by([](Journal& journal) { ASSERT_TRUE(journal.begin("k", 1, false)); });
  ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr(path()));
}

TEST_F(JournalTest, IsGoneOnceTheWorkIsDone) {
  auto journal = open();
  ASSERT_TRUE(journal->finish());
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(JournalTest, InAFolderThatCannotBeWrittenSaysSo) {
  const auto journal = Journal::open("/proc/probe.journal", "kernels", false);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(journal.error().message, HasSubstr("/proc/probe.journal"));
}

TEST(JournalKey, NamesEnvironmentVariantAndCase) {
  const std::string key = Journal::key_of("env", "variant", "case");
  EXPECT_NE(key, Journal::key_of("env2", "variant", "case"));
  EXPECT_NE(key, Journal::key_of("env", "variant2", "case"));
  EXPECT_NE(key, Journal::key_of("env", "variant", "case2"));
}

}  // namespace
}  // namespace clvet
