#include "runtime/exec/flight.h"

#include <gmock/gmock.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "tests/support.h"

namespace clvet {
namespace {

// What a process leaves that ends without a word.
std::vector<FlightSnapshot> left_by(const std::string& folder, void (*work)(Flight&)) {
  if (const auto child = ::fork(); child == 0) {
    auto* flight = new Flight(*Flight::in_folder(folder, true));
    flight->on("key");
    work(*flight);
    ::_exit(0);
  } else {
    ::waitpid(child, nullptr, 0);
  }
  return lost_flights(folder);
}

TEST(Flight, TellsTheNextStartWhatADeadOneHadInHand) {
  const test::TempDir dir;
  const auto lost = left_by(dir.path(), [](Flight& flight) {
    flight.take("gemm/high");
    flight.launched();
    flight.enter(Stage::kEnqueue);
  });
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].environment_key, "key");
  EXPECT_EQ(lost[0].variant, "gemm/high");
  EXPECT_EQ(lost[0].stage, Stage::kEnqueue);
  EXPECT_TRUE(lost[0].inside);
  EXPECT_TRUE(lost[0].variant_is_known());
  EXPECT_TRUE(lost_flights(dir.path()).empty()) << "once";
}

TEST(Flight, DoesNotBlameTheLastOfSeveralLaunchesThatNobodyWaitedFor) {
  const test::TempDir dir;
  const auto lost = left_by(dir.path(), [](Flight& flight) {
    for (const char* name : {"a", "b"}) {
      flight.take(name);
      flight.launched();
    }
    flight.enter(Stage::kFinish);
  });
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_FALSE(lost[0].variant_is_known());
}

TEST(Flight, BlamesABuildWhateverIsPending) {
  Flight flight;
  flight.launched();
  flight.launched();
  flight.take("built");
  flight.enter(Stage::kBuild);
  EXPECT_TRUE(flight.read().variant_is_known());
}

TEST(Flight, OfALivingProcessIsNotLost) {
  const test::TempDir dir;
  const auto flight = Flight::in_folder(dir.path(), false);
  ASSERT_TRUE(flight);
  EXPECT_TRUE(lost_flights(dir.path()).empty());
}

TEST(Flight, LeavesNothingWhereItEndsInOrder) {
  const test::TempDir dir;
  { const auto flight = Flight::in_folder(dir.path(), false); }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Flight, TakesNoDamagedPageForOne) {
  const test::TempDir dir;
  test::put(dir / "1.flight", "short");
  test::put(dir / "2.flight", std::string(4096, '\xff'));
  test::put(dir / "3.other", "x");
  for (const FlightSnapshot& lost : lost_flights(dir.path())) {
    EXPECT_FALSE(lost.stage);
    EXPECT_FALSE(lost.inside);
  }
  EXPECT_TRUE(std::filesystem::exists(dir / "3.other"));
  EXPECT_FALSE(std::filesystem::exists(dir / "2.flight"));
}

TEST(Flight, KnowsHowLongAnInferenceTakes) {
  Flight flight;
  flight.begin_inference();
  EXPECT_GT(flight.read().inference_s, 0);
  flight.end_inference();
  EXPECT_EQ(flight.read().inference_s, 0);
  EXPECT_GT(flight.read().longest_s, 0);
}

TEST(SaidText, IsTheSameInPiecesAndInOne) {
  SaidText pieces, whole;
  for (const char* piece : {"a", "", "bc"}) pieces.add(piece);
  whole.add("abc");
  EXPECT_EQ(pieces, whole);
  whole.add("d");
  EXPECT_NE(pieces, whole);
}

}  // namespace
}  // namespace clvet
