#include "runtime/plan/planner.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<Combination>& combinations) {
  std::vector<std::string> names;
  for (const Combination& one : combinations) names.push_back(to_string(one));
  return names;
}

TEST(Combinations, AreAllThatTheWordsLeaveOpenHighestPrecisionFirst) {
  const PlanOverrides high{Precision::kHigh, {}, {}, {}};
  EXPECT_THAT(names(combinations_of(high, {})),
              ElementsAre("high/normal/buffer/buffer", "high/normal/buffer/image"));
  EXPECT_THAT(names(combinations_of(high, {.image_activations = true})),
              ElementsAre("high/normal/buffer/buffer", "high/normal/buffer/image",
                          "high/normal/image/buffer", "high/normal/image/image"));
  EXPECT_THAT(names(combinations_of(high, {.quantised_weights = true})),
              ElementsAre("high/low/buffer/buffer", "high/low/buffer/image",
                          "high/normal/buffer/buffer", "high/normal/buffer/image"));
  const auto all = combinations_of({}, {true, true});
  ASSERT_EQ(all.size(), 24u);
  EXPECT_EQ(all[0].precision, Precision::kHigh);
  EXPECT_EQ(all[8].precision, Precision::kNormal);
  EXPECT_EQ(all[16].precision, Precision::kLow);
}

TEST(Combinations, KeepEveryWordThatIsGiven) {
  for (const Combination& one :
       combinations_of({Precision::kLow, Memory::kLow, Storage::kImage, Storage::kImage}, {})) {
    EXPECT_EQ(to_string(one), "low/low/image/image");
  }
  const PlanOverrides images{{}, {}, {}, Storage::kImage};
  EXPECT_EQ(combinations_of(images, {true, true}).size(), 12u);
  for (const Combination& one : combinations_of(images, {true, true})) {
    EXPECT_EQ(one.weights, Storage::kImage);
  }
}

// A plan of one phase that takes `ms` and has some fallbacks.
ExecutionPlan plan_of(const Combination& combination, double ms, size_t fallbacks = 0) {
  ExecutionPlan plan;
  plan.combination = combination;
  plan.phases.push_back({"run", {}, {}, ms});
  plan.fallbacks.resize(fallbacks, {"conv1", "a variant", "another", "crash"});
  plan.bytes = ms * 1000;
  return plan;
}

Combination at(Precision precision, Storage activations = Storage::kBuffer) {
  return {precision, Memory::kNormal, activations, Storage::kBuffer};
}

// What is chosen of plans with these times and fallbacks at high, normal and low.
struct ByPrecision {
  std::string name;
  double high, normal, low;
  size_t high_fallbacks = 0, low_fallbacks = 0;
  std::optional<Precision> word = {};
  Precision taken = Precision::kHigh;
};

TEST(BestPlan, TakesALowerPrecisionOnlyWhereItSavesAThird) {
  using enum Precision;
  const std::vector<ByPrecision> rows = {
      {"equal", 3, 3, 3, 0, 0, {}, kHigh},
      {"a third", 3, 2, 2, 0, 0, {}, kHigh},
      {"a bit less than a third", 3, 2.01, 2.01, 0, 0, {}, kHigh},
      {"a bit more than a third", 3, 1.99, 2.5, 0, 0, {}, kNormal},
      {"the faster of the lower two", 3, 1.9, 1.8, 0, 0, {}, kLow},
      {"equal lower two", 3, 1, 1, 0, 0, {}, kNormal},
      {"fewer fallbacks", 3, 5, 100, 1, 0, {}, kNormal},
      {"more fallbacks", 3, 3, 0.1, 0, 1, {}, kHigh},
      {"the word is given", 3, 2.9, 2.8, 0, 0, kLow, kLow},
  };
  for (const ByPrecision& row : rows) {
    const PlanOverrides words{row.word, {}, {}, {}};
    const auto best = best_plan(
        std::vector{at(kHigh), at(kNormal), at(kLow)},
        [&](const Combination& one) -> Result<ExecutionPlan> {
          if (one.precision == kHigh) return plan_of(one, row.high, row.high_fallbacks);
          if (one.precision == kNormal) return plan_of(one, row.normal);
          return plan_of(one, row.low, row.low_fallbacks);
        },
        words);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->combination.precision, row.taken) << row.name;
  }
}

TEST(BestPlan, PutsNoTaxOnAPrecisionThatTheWordsName) {
  const auto best = best_plan(std::vector{at(Precision::kLow), at(Precision::kNormal)},
                              [](const Combination& one) {
                                return plan_of(one, one.precision == Precision::kLow ? 2 : 1.9);
                              },
                              {Precision::kLow, {}, {}, {}});
  EXPECT_EQ(best->combination.precision, Precision::kNormal);
}

TEST(BestPlan, TakesTheFirstOfEqualPlans) {
  const std::vector<Combination> both = {at(Precision::kHigh),
                                         at(Precision::kHigh, Storage::kImage)};
  for (const double ms : {0.0, 4.0}) {
    const auto best = best_plan(both, [&](const Combination& one) { return plan_of(one, ms); }, {});
    EXPECT_EQ(best->combination, both[0]);
  }
}

TEST(BestPlan, TakesTheFewestBytesOfPlansThatAreWithinATenthOfTheFastest) {
  using enum Precision;
  struct Row {
    const char* name;
    Precision precision;  // of the second plan; the first is at high, takes 2 ms and 2000 bytes
    double ms, bytes;
    bool second;
  };
  for (const Row& row : {Row{"near and smaller", kHigh, 2.19, 1900, true},
                         Row{"near and larger", kHigh, 2.19, 2100, false},
                         Row{"far and smaller", kHigh, 2.21, 100, false},
                         Row{"of another precision", kNormal, 2.1, 100, false}}) {
    const std::vector<Combination> both = {at(kHigh), at(row.precision, Storage::kImage)};
    const auto best = best_plan(both,
                                [&](const Combination& one) -> Result<ExecutionPlan> {
                                  ExecutionPlan plan = plan_of(one, one == both[0] ? 2 : row.ms);
                                  plan.bytes = one == both[0] ? 2000 : row.bytes;
                                  return plan;
                                },
                                {});
    EXPECT_EQ(best->combination, both[row.second]) << row.name;
    if (row.second) {
      EXPECT_EQ(best->refused[0].reason,
                "predicted to take 2 ms instead of 2.19 ms, with 0.00191 MiB of weights "
                "instead of 0.00181 MiB");
    }
  }
}

TEST(BestPlan, ListsEachOtherCombinationWithItsReason) {
  using enum Precision;
  const std::vector<Combination> all = {at(kHigh), at(kNormal), at(kLow),
                                        at(kHigh, Storage::kImage), at(kNormal, Storage::kImage)};
  const auto best = best_plan(all,
                              [&](const Combination& one) -> Result<ExecutionPlan> {
                                if (one == all[0]) return plan_of(one, 2);
                                if (one == all[1]) return plan_of(one, 1.5);
                                if (one == all[2])
                                  return fail(ErrorCode::kUnavailable, "gemm is wrong");
                                if (one == all[3])
                                  return fail(ErrorCode::kResourceExhausted, "it is too large");
                                return plan_of(one, 0.5, 1);
                              },
                              {});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->combination, all[0]);
  const std::vector<RefusedCombination> wanted = {
      {all[2], "gemm is wrong", false, 0, 0},
      {all[3], "it is too large", false, 0, 0},
      {all[1], "predicted to take 1.5 ms instead of 2 ms", true, 1.5, 1500},
      {all[4], "node 'conv1' would need a fallback from a variant to another (crash)", true, 0.5,
       500}};
  EXPECT_EQ(best->refused, wanted);
}

// Of two times that are the same in three digits neither is "instead of" the other.
TEST(BestPlan, SaysOfPlansThatAreAsFastWhyTheOtherWasChosen) {
  using enum Precision;
  const Combination best = at(kHigh);
  struct Row {
    Combination other;
    double ms, bytes;  // the best one takes 1.23 ms and 1 MiB
    const char* reason;
  };
  for (const Row& row :
       {Row{at(kNormal), 1.2301, 1 << 20,
            "predicted to take 1.23 ms like the one chosen, which is more precise"},
        Row{at(kHigh, Storage::kImage), 1.2301, 1 << 20,
            "predicted to take 1.23 ms like the one chosen"},
        Row{at(kHigh, Storage::kImage), 1.2299, 2 << 20,
            "predicted to take 1.23 ms like the one chosen, with 2 MiB of weights instead of 1 "
            "MiB"}}) {
    const auto plan = best_plan(std::vector{best, row.other},
                                [&](const Combination& one) -> Result<ExecutionPlan> {
                                  ExecutionPlan made = plan_of(one, one == best ? 1.23 : row.ms);
                                  made.bytes = one == best ? 1 << 20 : row.bytes;
                                  return made;
                                },
                                {});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->combination, best);
    EXPECT_EQ(plan->refused.at(0).reason, row.reason);
  }
}

TEST(BestPlan, TakesNoPlanForFastOfWhichAKernelWasNotTimed) {
  using enum Precision;
  const auto plan_one = [](const Combination& one) {
    ExecutionPlan plan = plan_of(one, one.precision == kHigh ? 5 : 0.1);
    PlanStep timed, untimed;
    timed.kind = untimed.kind = StepKind::kKernel;
    timed.ms = plan.ms();
    plan.phases[0].steps = {timed};
    if (one.precision == kNormal) plan.phases[0].steps.push_back(untimed);
    return plan;
  };
  const auto best = best_plan(std::vector{at(kNormal), at(kHigh)}, plan_one, {});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->combination.precision, kHigh);
  EXPECT_EQ(best->refused.at(0).reason, "not all of its kernels were timed");
  EXPECT_EQ(best_plan(std::vector{at(kNormal)}, plan_one, {})->combination.precision, kNormal);
}

TEST(BestPlan, SaysOfPlansWithoutPredictionsThatTheyWereNotTimed) {
  const auto best = best_plan(std::vector{at(Precision::kHigh), at(Precision::kNormal)},
                              [](const Combination& one) { return plan_of(one, 0, 2); }, {});
  ASSERT_EQ(best->refused.size(), 1u);
  EXPECT_EQ(best->refused[0].reason, "not all of its kernels were timed");
}

TEST(BestPlan, SaysWhyThereIsNone) {
  const auto refuse = [](const Combination& one) -> Result<ExecutionPlan> {
    return fail(ErrorCode::kUnavailable, "{} does not run", to_string(one.precision));
  };
  const auto none = best_plan(std::vector{at(Precision::kNormal), at(Precision::kLow)}, refuse, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(none.error().message, "no combination can run the model: normal does not run");
  const auto nothing = best_plan({}, refuse, {});
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no combination was requested"));
}

TEST(BestPlan, StopsAtAFaultThatIsNoReasonToTryAnother) {
  for (const ErrorCode code : {ErrorCode::kInternal, ErrorCode::kInvalidArgument}) {
    const auto none = best_plan(std::vector{at(Precision::kHigh), at(Precision::kNormal)},
                                [&](const Combination& one) -> Result<ExecutionPlan> {
                                  if (one.precision == Precision::kHigh)
                                    return fail(code, "a fault");
                                  return plan_of(one, 1);
                                },
                                {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, code);
    EXPECT_EQ(none.error().message, "a fault");
  }
}

}  // namespace
}  // namespace clvet
