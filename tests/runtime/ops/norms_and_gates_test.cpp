// Normalisations and the cells of GRU and RNN, worked out by hand; random ones are compared with
// onnxruntime by tests/cli/random_operators.py.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::counting;
using test::floats;
using test::make_node;
using test::noise;
using test::refusal;
using test::run_one;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

TEST(InstanceNormalization, CentresEachPlane) {
  const Tensor x = Tensor::of<float>({1, 2, 2}, {1, 3, 10, 30});
  const Tensor y = run_one(make_node("InstanceNormalization", 3, {{"epsilon", 0.0}}),
                           {x, Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({2}, {0, 5})});
  EXPECT_THAT(floats(y), ElementsAre(-1, 1, 3, 7));
}

// Up to opset 20 a scale and a bias a group, later a channel.
TEST(GroupNormalization, HasParametersByGroupThenByChannel) {
  const Tensor x = Tensor::of<float>({1, 2, 1}, {1, 3});
  const auto run = [&](int opset) {
    return make_node("GroupNormalization", 3, {{"num_groups", int64_t{1}}, {"epsilon", 0.0}},
                     opset);
  };
  const Tensor one = Tensor::of<float>({1}, {2}), two = Tensor::of<float>({2}, {1, 2});
  EXPECT_THAT(floats(run_one(run(18), {x, one, one})), ElementsAre(0, 4));
  EXPECT_THAT(floats(run_one(run(21), {x, two, two})), ElementsAre(0, 4));
  EXPECT_THAT(refusal(run(21), {x, one, one}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(make_node("GroupNormalization", 3), {x, two, two}), HasSubstr("num_groups"));
  EXPECT_THAT(
      refusal(make_node("GroupNormalization", 3, {{"num_groups", int64_t{3}}}, 21), {x, two, two}),
      HasSubstr("num_groups"));
}

TEST(RmsNormalization, DividesByTheRootOfTheMeanSquare) {
  const Tensor x = Tensor::of<float>({1, 2}, {1, 7});
  const Node node = make_node("RMSNormalization", 2, {{"epsilon", 0.0}}, 23);
  EXPECT_THAT(floats(run_one(node, {x, Tensor::of<float>({2}, {5, 10})})), ElementsAre(1, 14));
}

TEST(LpNormalization, LeavesZerosZero) {
  const Tensor x = Tensor::of<float>({2, 2}, {3, 4, 0, 0});
  EXPECT_THAT(floats(run_one(make_node("LpNormalization", 1), {x})), ElementsAre(0.6f, 0.8f, 0, 0));
  EXPECT_THAT(refusal(make_node("LpNormalization", 1, {{"p", int64_t{3}}}), {x}), HasSubstr("p"));
}

TEST(MeanVarianceNormalization, RefusesAxesThatAreNotThere) {
  EXPECT_THAT(refusal(make_node("MeanVarianceNormalization", 1), {noise({2, 3})}),
              HasSubstr("axis"));
}

// One unit with x = 1, h = 0: update 1/2, hidden tanh(1).
TEST(Gru, MixesTheStateWithTheFreshOne) {
  const Tensor x = Tensor::of<float>({1, 1, 1}, {1}), w = Tensor::of<float>({1, 3, 1}, {0, 0, 1}),
               r = Tensor::of<float>({1, 3, 1}, {0, 0, 0});
  const Tensor y = run_one(make_node("GRU", 3, {}, 14, 2), {x, w, r});
  EXPECT_THAT(floats(y), ElementsAre(FloatNear(std::tanh(1.f) / 2, 1e-6f)));
  EXPECT_THAT(refusal(make_node("GRU", 3, {}, 14, 2), {x, w, noise({1, 3, 2})}),
              HasSubstr("do not fit"));
}

TEST(Rnn, AppliesTheFunctionThatItNames) {
  const Tensor x = Tensor::of<float>({2, 1, 1}, {1, 2}), w = Tensor::of<float>({1, 1, 1}, {3}),
               r = Tensor::of<float>({1, 1, 1}, {10});
  const Attributes relu = {{"activations", std::vector<std::string>{"Relu"}}};
  EXPECT_THAT(floats(run_one(make_node("RNN", 3, relu, 14, 2), {x, w, r})), ElementsAre(3, 36));
  Attributes clipped = relu;
  clipped["clip"] = 5.0;
  EXPECT_THAT(floats(run_one(make_node("RNN", 3, clipped, 14, 2), {x, w, r})), ElementsAre(3, 5));
}

TEST(Rnn, OfInputsWithoutElementsKeepsWhatTheStateMakes) {
  const Tensor none = Tensor::create(DType::kF32, {2, 1, 0}).value();
  const Tensor w = Tensor::create(DType::kF32, {1, 1, 0}).value();
  const Tensor y =
      run_one(make_node("RNN", 3, {}, 14, 2), {none, w, Tensor::of<float>({1, 1, 1}, {1})});
  EXPECT_THAT(floats(y), ElementsAre(0, 0));
}

}  // namespace
}  // namespace clvet
