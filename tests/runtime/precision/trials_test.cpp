#include "runtime/precision/trials.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;

// Input i is right where node i is raised.
class Counted : public DiagnosedModel {
 public:
  size_t inputs() const override { return 3; }
  std::vector<DiagnosedNode> nodes() const override { return {}; }
  const Wiring& wiring() const override { return wiring_; }
  Result<Look> look(size_t) override { return fail(ErrorCode::kInternal, "not looked at"); }
  Result<DiagnosedInput> with(const Raised& raised, size_t input, Detail detail) override {
    asked.emplace_back(input, detail == Detail::kWhole);
    DiagnosedInput found;
    found.name = std::to_string(input);
    found.right = raised[input];
    return found;
  }

  std::vector<std::pair<size_t, bool>> asked;  // whether the whole answer was

 private:
  Wiring wiring_;
};

constexpr size_t kAll[] = {0, 1, 2};

TEST(Trials, AskForNoChoiceTwice) {
  Counted model;
  Trials trials(model);
  const Raised all(3, true);
  EXPECT_TRUE(trials.cures(all, kAll).value());
  EXPECT_THAT(model.asked,
              ElementsAre(std::pair(0u, false), std::pair(1u, false), std::pair(2u, false)));
  EXPECT_TRUE(trials.cures(all, kAll).value());
  EXPECT_EQ(model.asked.size(), 3u);
}

TEST(Trials, RefuseAtOnceWhereOneInputIsKnownToRefuse) {
  Counted model;
  Trials trials(model);
  const Raised without_last = {true, true, false};
  const size_t last[] = {2};
  EXPECT_FALSE(trials.cures(without_last, last).value());
  EXPECT_FALSE(trials.cures(without_last, kAll).value());
  EXPECT_THAT(model.asked, ElementsAre(std::pair(2u, false)));
}

TEST(Trials, AskFirstTheInputThatRefusedLast) {
  Counted model;
  Trials trials(model);
  EXPECT_FALSE(trials.cures({true, true, false}, kAll).value());
  model.asked.clear();
  EXPECT_FALSE(trials.cures({true, false, false}, kAll).value());
  EXPECT_THAT(model.asked, ElementsAre(std::pair(2u, false)));
}

TEST(Trials, KeepTheAnswerOfTheLastChoiceThatIsRight) {
  Counted model;
  Trials trials(model);
  const Raised all(3, true), middle = {false, true, false};
  const size_t second[] = {1};
  EXPECT_TRUE(trials.cures(all, second).value());
  EXPECT_TRUE(trials.cures(middle, second).value());
  model.asked.clear();
  const DiagnosedInput found = trials.with(middle, 1).value();
  EXPECT_TRUE(found.right);
  EXPECT_EQ(found.name, "1");
  EXPECT_TRUE(model.asked.empty());
  EXPECT_TRUE(trials.with(all, 1).value().right);
  EXPECT_FALSE(trials.with(middle, 0).value().right);
  EXPECT_THAT(model.asked, ElementsAre(std::pair(1u, true), std::pair(0u, true)));
}

}  // namespace
}  // namespace clvet
