#include "runtime/precision/normalise.h"

#include <gmock/gmock.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using testing::ElementsAre;

// y = (x * factor) * x * small
Graph squares(float factor, float small) {
  test::ModelBuilder model;
  model.input("x", {4}).constant("f", {1}, {factor}).constant("c", {1}, {small});
  model.node("Mul", {"x", "f"}, {"p"});
  model.node("Mul", {"p", "x"}, {"s"});
  model.node("Mul", {"s", "c"}, {"y"});
  return model.output("y").build();
}

std::optional<NormaliseTrials> trials(const Graph& graph,
                                      const std::vector<std::vector<float>>& inputs) {
  std::vector<CalibrationInput> sets;
  for (const auto& values : inputs)
    sets.push_back({"one", {{"x", Tensor::from<float>({4}, std::span<const float>(values))}}});
  const auto found = diagnose_network(graph, sets, {.policy = Policy::kNaive});
  EXPECT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found && found->plan) << "nothing fails";
  return found ? found->normalising : std::nullopt;
}

std::vector<std::string> words(const NormaliseTrials& trials) {
  std::vector<std::string> all;
  for (const Normalisation& way : trials.tried)
    all.push_back(std::string(to_string(way.how)) + (way.right ? " right" : " wrong"));
  return all;
}

TEST(Normalising, CuresAnOverflowOfAPicture) {
  const auto found = trials(squares(4, 1.f / 1024), {{0, 20, 130, 255}});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->values, ElementsAre("x"));
  EXPECT_THAT(words(*found),
              ElementsAre("divide right", "centre right", "standardise right", "divide right"));
  EXPECT_EQ(found->tried[0].divisor, 255);
  EXPECT_EQ(found->tried[3].divisor, 256);
  EXPECT_EQ(found->inputs, 1);
}

TEST(Normalising, TriesWhatFitsTheRange) {
  const auto found =
      trials(squares(1, 1.f / 1024), {{-3, 1, 2, 400}, {1, 2, 3, -300}, {1, 2, 3, 4}});
  ASSERT_TRUE(found);
  EXPECT_THAT(words(*found), ElementsAre("standardise right", "divide right"));
  EXPECT_EQ(found->tried[1].divisor, 512);
  EXPECT_EQ(found->inputs, 2) << "the third is right already";
}

TEST(Normalising, DoesNotCureAConstant) {
  const auto found = trials(squares(1e6f, 1e-6f), {{1, 2, 3, 100}});
  ASSERT_TRUE(found);
  EXPECT_THAT(words(*found),
              ElementsAre("divide wrong", "centre wrong", "standardise wrong", "divide wrong"));
}

TEST(Normalising, IsNoQuestionOfSmallValues) {
  EXPECT_FALSE(trials(squares(1e6f, 1e-6f), {{1, 2, 3, kNormalised}}));
}

// With small values the network gives zeros, of which low precision is right.
TEST(Normalising, IsNoCureWhereTheOutputsSayNothingThen) {
  test::ModelBuilder model;
  model.input("x", {4}).constant("c", {1}, {1.f / 1024}).constant("t", {1}, {20});
  model.node("Mul", {"x", "x"}, {"s"});
  model.node("Mul", {"s", "c"}, {"q"});
  model.node("Sub", {"q", "t"}, {"d"});
  model.node("Relu", {"d"}, {"y"});
  const auto found = trials(model.output("y").build(), {{1, 200, 3, 400}});
  ASSERT_TRUE(found);
  EXPECT_THAT(words(*found), ElementsAre("standardise wrong", "divide wrong"));
}

TEST(Normalising, LeavesValuesAloneThatAreNotFinite) {
  EXPECT_FALSE(trials(squares(4, 1.f / 1024), {{NAN, 20, 130, 255}}));
}

}  // namespace
}  // namespace clvet
