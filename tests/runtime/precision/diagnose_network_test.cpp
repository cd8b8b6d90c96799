#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/number_format.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/precision/planted_networks.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using test::Planted;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PrecisionDiagnosis diagnose(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                            const DiagnoseOptions& options) {
  auto found = diagnose_network(graph, inputs, options);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : PrecisionDiagnosis{};
}

PrecisionDiagnosis diagnose(const test::PlantedNetwork& network, Policy policy = Policy::kNaive) {
  return diagnose(network.graph, {{"input", network.inputs}}, {.policy = policy});
}

std::string origins_of(const PrecisionDiagnosis& found) {
  std::string text;
  for (const ErrorOrigin& origin : found.origins)
    text += origin.name + " (" + to_string(origin.blame.fault) + ") ";
  return text;
}

class PlantedFaults : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedFaults, AreNamedAndCured) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    const auto network = test::planted_network(GetParam(), seed);
    const PrecisionDiagnosis found = diagnose(network);
    ASSERT_EQ(found.origins.size(), 1u) << seed << ": " << origins_of(found);
    EXPECT_EQ(found.origins[0].name, network.origin) << seed << ": " << origins_of(found);
    ASSERT_TRUE(found.plan);
    EXPECT_TRUE(found.plan->right);
    EXPECT_TRUE(found.plan->smallest);
    EXPECT_LE(found.plan->raised.size(), 4u) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, PlantedFaults, ::testing::ValuesIn(test::kAllPlanted));

TEST(DiagnoseNetwork, FindsNothingInCleanNetworks) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    for (const Policy policy : {Policy::kNaive, Policy::kEngine}) {
      const PrecisionDiagnosis found =
          diagnose(test::planted_network(Planted::kNone, seed), policy);
      EXPECT_TRUE(found.origins.empty()) << seed << ": " << origins_of(found);
      EXPECT_FALSE(found.plan) << seed;
    }
  }
}

// y = (x * x) * 2^-10: overflows for large x only.
Graph squares() {
  ModelBuilder model;
  model.input("x", {4}).constant("c", {1}, {1.f / 1024});
  model.node("Mul", {"x", "x"}, {"s"});
  model.node("Mul", {"s", "c"}, {"y"});
  model.output("y");
  return model.build();
}

TEST(DiagnoseNetwork, TellsInputsThatFailFromThoseThatPassByTheirRange) {
  const std::vector<CalibrationInput> inputs = {
      {"small", {{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}}},
      {"large", {{"x", Tensor::of<float>({4}, {1, 2, 3, 400})}}},
      {"middle", {{"x", Tensor::of<float>({4}, {-200, 2, 3, 4})}}},
  };
  const PrecisionDiagnosis found = diagnose(squares(), inputs, {.policy = Policy::kNaive});
  ASSERT_EQ(found.inputs.size(), 3u);
  EXPECT_TRUE(found.inputs[0].right);
  EXPECT_FALSE(found.inputs[1].right);
  EXPECT_TRUE(found.inputs[2].right);
  EXPECT_EQ(found.inputs[1].outputs[0].sign, OutputSign::kNotFinite);
  EXPECT_EQ(found.inputs[1].ranges.at("x").greatest, 400);
  ASSERT_EQ(found.origins.size(), 1u);
  EXPECT_EQ(found.origins[0].op, "Mul");
  EXPECT_EQ(found.origins[0].blame.value, "s");
  EXPECT_EQ(found.origins[0].blame.largest, 160000);
  EXPECT_THAT(found.origins[0].inputs, ElementsAre(1));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->raised.size(), 2u);
  for (const DiagnosedInput& after : found.plan->after) EXPECT_TRUE(after.right) << after.name;
}

// The first two inputs say nothing of the other branch.
TEST(DiagnoseNetwork, CuresAlsoTheInputsThatThePlanWasNotFirstTriedOn) {
  ModelBuilder model;
  model.input("x", {4}).input("w", {4}).constant("c", {1}, {1.f / 1024});
  for (const std::string side : {"x", "w"}) {
    model.node("Mul", {side, side}, {side + "_square"});
    model.node("Mul", {side + "_square", "c"}, {side + "_out"});
    model.output(side + "_out");
  }
  const auto small = Tensor::of<float>({4}, {1, 2, 3, 4});
  const auto large = Tensor::of<float>({4}, {1, 2, 3, 400});
  const std::vector<CalibrationInput> inputs = {{"first", {{"x", large}, {"w", small}}},
                                                {"second", {{"x", large}, {"w", small}}},
                                                {"third", {{"x", small}, {"w", large}}},
                                                {"fourth", {{"x", small}, {"w", small}}}};
  const PrecisionDiagnosis found = diagnose(model.build(), inputs, {.policy = Policy::kNaive});
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->raised.size(), 4u);
  EXPECT_TRUE(found.plan->right);
  ASSERT_EQ(found.plan->after.size(), 4u);
  for (const DiagnosedInput& after : found.plan->after) EXPECT_TRUE(after.right) << after.name;
  ASSERT_EQ(found.origins.size(), 2u);
  EXPECT_THAT(found.origins[0].inputs, ElementsAre(0, 1));
  EXPECT_THAT(found.origins[1].inputs, ElementsAre(2));
}

TEST(DiagnoseNetwork, NamesAnInputThatHalfCannotHold) {
  const PrecisionDiagnosis found =
      diagnose(squares(), {{"huge", {{"x", Tensor::of<float>({4}, {1, 2, 3, 1e6f})}}}}, {});
  ASSERT_EQ(found.origins.size(), 1u);
  EXPECT_EQ(found.origins[0].node, -1);
  EXPECT_EQ(found.origins[0].name, "x");
  EXPECT_EQ(found.origins[0].blame.fault, PrecisionFault::kOverflow);
}

TEST(DiagnoseNetwork, SaysThatFusingCuresWhatTheFileAsItStandsDoesNot) {
  const std::vector<CalibrationInput> inputs = {
      {"large", {{"x", Tensor::of<float>({4}, {1, 2, 3, 400})}}}};
  EXPECT_TRUE(diagnose(squares(), inputs, {.policy = Policy::kNaive}).plan);
  EXPECT_FALSE(diagnose(squares(), inputs, {.policy = Policy::kEngine}).plan);
}

TEST(DiagnoseNetwork, RoundsToBfloatWhereThatIsAskedFor) {
  const std::vector<CalibrationInput> inputs = {
      {"large", {{"x", Tensor::of<float>({4}, {1, 2, 3, 400})}}}};
  const PrecisionDiagnosis found =
      diagnose(squares(), inputs, {.policy = Policy::kNaive, .format = NumberFormat::kBfloat});
  EXPECT_FALSE(found.plan);
  EXPECT_GT(found.inputs[0].outputs[0].deviation.part(), 0);
}

TEST(DiagnoseNetwork, RefusesInputsThatDoNotFit) {
  const auto none = diagnose_network(squares(), {}, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no input"));
  const auto other = diagnose_network(squares(), {{"wrong.npy", {{"x", test::noise({5})}}}}, {});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("wrong.npy"));
}

}  // namespace
}  // namespace clvet
