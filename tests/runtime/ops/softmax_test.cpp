// Softmax, LogSoftmax, Hardmax and BatchNormalization against their formulas in float64.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::Index;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

Node on_axis(const char* op, int64_t axis, int opset = 13) {
  return make_node(op, 1, {{"axis", axis}}, opset);
}

// exp(x) / sum of exp(x) over the axes `first`..`last`, and its logarithm.
Grid plain(const Tensor& x, size_t first, size_t last, bool log) {
  const Grid grid(x);
  Shape along(x.shape().size(), 1);
  for (size_t i = first; i <= last; ++i) along[i] = x.shape()[i];
  return Grid(x.shape(), [&](const Index& at) {
    double sum = 0;
    test::each_index(along, [&](const Index& inner) {
      Index from = at;
      for (size_t i = first; i <= last; ++i) from[i] = inner[i];
      sum += std::exp(grid.at(from));
    });
    return log ? grid.at(at) - std::log(sum) : std::exp(grid.at(at)) / sum;
  });
}

// Exponentials of values below 1 in float32, each within a few units in the last place.
TEST(Softmax, EqualsTheFormulaAlongEveryAxis) {
  const Tensor x = noise({2, 3, 4, 5}, 3);
  for (int64_t axis = -4; axis < 4; ++axis) {
    const auto at = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
    test::at_each_width([&] {
      test::expect_grid(test::run_one(on_axis("Softmax", axis), {x}), plain(x, at, at, false),
                        5e-7);
    });
    test::expect_grid(test::run_one(on_axis("LogSoftmax", axis), {x}), plain(x, at, at, true),
                      5e-7);
    const auto first = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
    test::expect_grid(test::run_one(on_axis("Softmax", axis, 11), {x}), plain(x, first, 3, false),
                      5e-7);
  }
}

TEST(Softmax, OfAVectorInOldModelsIsOverThatVectorUnlessTheAxisIsOne) {
  const Tensor x = noise({4}, 9);
  for (const int64_t axis : {0, -1}) {
    test::expect_grid(test::run_one(on_axis("Softmax", axis, 11), {x}), plain(x, 0, 0, false),
                      5e-7);
  }
  // The default, 1, makes a column of it: each value alone.
  EXPECT_EQ(test::floats(test::run_one(make_node("Softmax", 1, {}, 11), {x})),
            (std::vector<float>{1, 1, 1, 1}));
}

TEST(LogSoftmax, KeepsWhatTheProbabilitiesLose) {
  const Tensor x = Tensor::of<float>({3}, {0, -200, 1000});
  const auto y = test::floats(test::run_one(on_axis("LogSoftmax", 0), {x}));
  EXPECT_THAT(y, ElementsAre(-1000, -1200, 0));
}

TEST(Softmax, OfInfinitiesAndNans) {
  const auto run = [](const char* op, std::vector<float> values) {
    const Tensor x = Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
    return test::floats(test::run_one(make_node(op, 1), {x}));
  };
  EXPECT_EQ(run("Softmax", {-kInf, 0, 0}), (std::vector<float>{0, 0.5f, 0.5f}));
  EXPECT_EQ(run("LogSoftmax", {-kInf, 0}), (std::vector<float>{-kInf, 0}));
  for (const auto& values : {std::vector<float>{std::nanf(""), 0}, {0, std::nanf("")}}) {
    EXPECT_TRUE(std::isnan(run("Softmax", values)[0]));
    EXPECT_TRUE(std::isnan(run("LogSoftmax", values)[1]));
  }
}

TEST(Hardmax, MarksTheFirstOfTheLargest) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 5, 5, -kInf, -kInf, -kInf});
  EXPECT_EQ(test::floats(test::run_one(make_node("Hardmax", 1), {x})),
            (std::vector<float>{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(test::floats(test::run_one(on_axis("Hardmax", 0), {x})),
            (std::vector<float>{1, 1, 1, 0, 0, 0}));
}

TEST(Softmax, OfAScalarIsOneAndOfNothingEmpty) {
  EXPECT_EQ(test::floats(test::run_one(make_node("Softmax", 1), {Tensor::scalar(3.f)})),
            (std::vector<float>{1}));
  EXPECT_EQ(test::run_one(on_axis("Softmax", 1), {noise({2, 0})}).shape(), (Shape{2, 0}));
}

TEST(Softmax, RefusesAnAxisThatIsNotThere) {
  for (const int opset : {11, 13}) {
    for (const int64_t axis : {int64_t{2}, int64_t{-3}, INT64_MIN, INT64_MAX}) {
      EXPECT_THAT(refusal(on_axis("Softmax", axis, opset), {noise({2, 3})}),
                  HasSubstr("of rank 2"));
    }
  }
  EXPECT_THAT(refusal(on_axis("Softmax", 2, 11), {noise({3})}), HasSubstr("axis 2"));
  EXPECT_THAT(refusal(on_axis("Softmax", -2, 11), {noise({3})}), HasSubstr("axis -2"));
}

TEST(Softmax, LowersOneAxisAndLeavesSeveralToTheHost) {
  const Lowering lowering = test::lowered(on_axis("Softmax", 1), {noise({2, 3, 4})});
  ASSERT_EQ(lowering.calls.size(), 1u) << lowering.reason;
  EXPECT_EQ(lowering.calls[0].dims.at("M"), 8);
  EXPECT_EQ(lowering.calls[0].dims.at("C"), 3);
  EXPECT_EQ(test::lowered(on_axis("Softmax", 1, 11), {noise({2, 3, 4})}).reason,
            "the softmax is over several axes");
  EXPECT_THAT(test::lowered(on_axis("Hardmax", 1), {noise({2, 3})}).reason, HasSubstr("Hardmax"));
}

struct Normalisation {
  Tensor x, scale, bias, mean, variance;
  std::vector<Tensor> inputs() const { return {x, scale, bias, mean, variance}; }
};

Normalisation normalisation(const Shape& shape) {
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  Tensor variance = noise({channels}, 5);
  for (int64_t i = 0; i < channels; ++i) variance.data<float>()[i] += 1.25f;
  return {noise(shape, 1), noise({channels}, 2), noise({channels}, 3), noise({channels}, 4),
          variance};
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias in double, rounded once.
TEST(BatchNormalization, EqualsTheFormulaForEveryRank) {
  for (const Shape& shape :
       {Shape{4}, Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 3, 4, 5}, Shape{2, 3, 2, 2, 2}}) {
    const Normalisation n = normalisation(shape);
    const Grid x(n.x), scale(n.scale), bias(n.bias), mean(n.mean), variance(n.variance);
    const Grid want(shape, [&](const Index& at) {
      const Index c = {at.size() > 1 ? at[1] : 0};
      return (x.at(at) - mean.at(c)) / std::sqrt(variance.at(c) + 0.25) * scale.at(c) + bias.at(c);
    });
    const Node node = make_node("BatchNormalization", 5, {{"epsilon", 0.25}}, 15);
    test::expect_grid(test::run_one(node, n.inputs()), want, 1e-6);
  }
}

// The batch's own mean and population variance, and running = old * momentum + own * (1 -
// momentum).
TEST(BatchNormalization, TrainsByTheStatisticsOfTheBatch) {
  const Normalisation n = normalisation({3, 2, 4});
  const Node node = make_node("BatchNormalization", 5,
                              {{"training_mode", int64_t{1}}, {"momentum", 0.75}}, 15, 3);
  const auto outputs = test::run_op(node, n.inputs());
  ASSERT_TRUE(outputs) << outputs.error().message;
  const Grid x(n.x);
  const auto average = [&](int64_t c, auto&& fn) {
    double sum = 0;
    test::each_index({3, 4}, [&](const Index& at) { sum += fn(x.at({at[0], c, at[1]})); });
    return sum / 12;
  };
  std::vector<double> mean, variance;
  for (const int64_t c : {0, 1}) {
    mean.push_back(average(c, [](double v) { return v; }));
    variance.push_back(average(c, [&](double v) { return (v - mean.back()) * (v - mean.back()); }));
  }
  const Grid scale(n.scale), bias(n.bias), old_mean(n.mean), old_variance(n.variance);
  test::expect_grid((*outputs)[0],
                    Grid({3, 2, 4},
                         [&](const Index& at) {
                           const auto c = static_cast<size_t>(at[1]);
                           return (x.at(at) - mean[c]) / std::sqrt(variance[c] + 1e-5) *
                                      scale.at({at[1]}) +
                                  bias.at({at[1]});
                         }),
                    1e-6);
  const auto running = [](const Grid& old, const std::vector<double>& own) {
    return Grid({2}, [&](const Index& at) {
      return old.at(at) * 0.75 + own[static_cast<size_t>(at[0])] * 0.25;
    });
  };
  test::expect_grid((*outputs)[1], running(old_mean, mean), 1e-7);
  test::expect_grid((*outputs)[2], running(old_variance, variance), 1e-7);
}

TEST(BatchNormalization, RefusesParametersThatDoNotFit) {
  for (size_t i = 1; i < 5; ++i) {
    std::vector<Tensor> inputs = normalisation({2, 3, 4}).inputs();
    inputs[i] = noise({4});
    EXPECT_THAT(refusal(make_node("BatchNormalization", 5), inputs), HasSubstr("parameter [4]"));
    inputs[i] = noise({1, 3});
    EXPECT_THAT(refusal(make_node("BatchNormalization", 5), inputs), HasSubstr("parameter [1,3]"));
  }
  const auto inputs = normalisation({2, 3}).inputs();
  EXPECT_THAT(refusal(make_node("BatchNormalization", 5, {}, 13, 3), inputs),
              HasSubstr("training"));
  EXPECT_THAT(refusal(make_node("BatchNormalization", 5, {{"spatial", int64_t{0}}}, 7), inputs),
              HasSubstr("spatial"));
  EXPECT_THAT(refusal(make_node("BatchNormalization", 4), {inputs.begin(), inputs.end() - 1}),
              HasSubstr("needs its input 4"));
}

TEST(BatchNormalization, GivesTheKernelAScaleAndAShiftForEachChannel) {
  const Node node = make_node("BatchNormalization", 5, {{"epsilon", 1.0}});
  const auto two = [](float a, float b) { return Tensor::of<float>({2}, {a, b}); };
  const std::vector<Tensor> inputs = {noise({1, 2, 3}), two(6, 1), two(1, 0), two(2, 5), two(8, 3)};
  const OpCall call = test::make_call(node, inputs, {false, true, true, true, true});
  // 6 / sqrt(9) and 1 / sqrt(4); 1 - 2 * 2 and 0 - 5 / 2.
  EXPECT_EQ(node.def->constant(call, {"w"}), (std::vector<double>{2, 0.5}));
  EXPECT_EQ(node.def->constant(call, {"bias"}), (std::vector<double>{-3, -2.5}));
}

}  // namespace
}  // namespace clvet
