// Norms as exporters spell them out, and what looks like one.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using test::ops_after;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr int64_t kRows = 3, kColumns = 4;
constexpr double kEpsilon = 1e-3;
const std::vector<float> kX = {1, 2, 4, 8, -3, 0.5f, 0, 7, 5, 5, 5, 6};
const std::vector<float> kScale = {1, -2, 0.5f, 3}, kShift = {0, 1, -1, 2};

Tensor x_of(const Shape& shape) { return Tensor::from(shape, std::span<const float>(kX)); }

// ONNX's LayerNormalization over the columns, or over the rows of the transposed matrix.
Tensor normalised(bool by_columns, const Shape& shape) {
  std::vector<float> y(kX.size());
  const int64_t lines = by_columns ? kColumns : kRows, length = by_columns ? kRows : kColumns;
  const auto at = [&](int64_t line, int64_t i) {
    return static_cast<size_t>(by_columns ? i * kColumns + line : line * kColumns + i);
  };
  for (int64_t line = 0; line < lines; ++line) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < length; ++i) mean += kX[at(line, i)] / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i)
      variance += std::pow(kX[at(line, i)] - mean, 2) / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i) {
      const double d = (kX[at(line, i)] - mean) / std::sqrt(variance + kEpsilon);
      y[at(line, i)] =
          static_cast<float>(d * kScale[static_cast<size_t>(i)] + kShift[static_cast<size_t>(i)]);
    }
  }
  return Tensor::from(shape, std::span<const float>(y));
}

// As PyTorch and Paddle write it. `axes`: of the second mean.
ModelBuilder by_deviations(const std::vector<int64_t>& axes = {-1}) {
  ModelBuilder model(13);
  model.input("x", {kRows, kColumns}).constant("two", {}, {2}).constant("epsilon", {}, {kEpsilon});
  model.constant("scale", {kColumns}, kScale).constant("shift", {kColumns}, kShift);
  test::set_ints(model.node("ReduceMean", {"x"}, {"mean"}), "axes", {-1});
  model.node("Sub", {"x", "mean"}, {"d"});
  model.node("Pow", {"d", "two"}, {"squares"});
  test::set_ints(model.node("ReduceMean", {"squares"}, {"variance"}), "axes", axes);
  model.node("Add", {"variance", "epsilon"}, {"sum"});
  model.node("Sqrt", {"sum"}, {"root"});
  model.node("Div", {"d", "root"}, {"z"});
  model.node("Mul", {"z", "scale"}, {"scaled"});
  model.node("Add", {"scaled", "shift"}, {"y"});
  model.output("y");
  return model;
}

// As Flax writes it: over axis 1 of [2, n, m], from the mean and the mean of the squares. `top`:
// the least variance.
ModelBuilder by_moments(float top = 0, const std::string& other = "x_mean") {
  ModelBuilder model(13);
  model.input("x", {1, kRows, kColumns}).constant("part", {}, {1.0f / kRows});
  model.constant("zero", {}, {top}).constant("epsilon", {}, {kEpsilon});
  const std::vector<float> scale(kScale.begin(), kScale.begin() + kRows);
  const std::vector<float> shift(kShift.begin(), kShift.begin() + kRows);
  model.constant("scale", {1, kRows, 1}, scale).constant("shift", {1, kRows, 1}, shift);
  model.constant_i64("axes", {1}).constant_i64("wide", {1, 1, kColumns});
  model.node("Mul", {"x", "x"}, {"squares"});
  for (const std::string of : {"x", "squares"}) {
    test::set_int(model.node("ReduceSum", {of, "axes"}, {of + "_sum"}), "keepdims", 0);
    model.node("Mul", {of + "_sum", "part"}, {of + "_mean"});
  }
  model.node("Mul", {"x_mean", other}, {"mean_squared"});
  model.node("Sub", {"squares_mean", "mean_squared"}, {"difference"});
  model.node("Max", {"zero", "difference"}, {"variance"});
  model.node("Reshape", {"variance", "wide"}, {"variance3"});
  model.node("Add", {"variance3", "epsilon"}, {"sum"});
  model.node("Sqrt", {"sum"}, {"root"});
  model.node("Reciprocal", {"root"}, {"inverse"});
  model.node("Mul", {"inverse", "scale"}, {"factor"});
  model.node("Reshape", {"x_mean", "wide"}, {"mean3"});
  model.node("Sub", {"x", "mean3"}, {"d"});
  model.node("Mul", {"d", "factor"}, {"scaled"});
  model.node("Add", {"scaled", "shift"}, {"y"});
  model.output("y");
  return model;
}

TEST(RecogniseNorms, FindsANormByItsDeviations) {
  const Shape shape = {kRows, kColumns};
  EXPECT_THAT(
      ops_after(by_deviations(), recognise_norms, {{"x", x_of(shape)}}, normalised(false, shape)),
      ElementsAre("LayerNormalization"));
}

TEST(RecogniseNorms, FindsANormByItsMomentsOverAnotherAxisThanTheLast) {
  const Shape shape = {1, kRows, kColumns};
  EXPECT_THAT(
      ops_after(by_moments(), recognise_norms, {{"x", x_of(shape)}}, normalised(true, shape), 1e-4),
      ElementsAre("Transpose", "LayerNormalization", "Transpose"));
}

TEST(RecogniseNorms, LeavesWhatOnlyLooksLikeOne) {
  Graph other_axis = test::folded(by_deviations({0}));
  recognise_norms(other_axis);
  EXPECT_THAT(test::ops_of(other_axis), Not(Contains("LayerNormalization")));
  Graph least = test::folded(by_moments(0.5f));
  recognise_norms(least);
  EXPECT_THAT(test::ops_of(least), Not(Contains("LayerNormalization")));
  Graph no_square = test::folded(by_moments(0, "x_sum"));
  recognise_norms(no_square);
  EXPECT_THAT(test::ops_of(no_square), Not(Contains("LayerNormalization")));
}

TEST(RecogniseNorms, LeavesAnAxisThatIsScaledAsAnother) {
  ModelBuilder model = by_deviations();
  model.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(4);
  for (auto& tensor : *model.graph().mutable_initializer()) {
    if (tensor.name() == "scale") {
      tensor.clear_dims();
      tensor.add_dims(4);
      tensor.add_dims(1);
    }
  }
  Graph graph = test::folded(model);
  recognise_norms(graph);
  EXPECT_THAT(test::ops_of(graph), Not(Contains("LayerNormalization")));
}

}  // namespace
}  // namespace clvet
