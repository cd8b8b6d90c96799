// Host ops against values worked out by hand or by plain loops. The ONNX node cases cover the rest.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::list;
using test::make_node;
using test::noise;
using test::run_one;
using ::testing::HasSubstr;

// A direct two-dimensional convolution in double.
Tensor plain_conv(const Tensor& x, const Tensor& w, int64_t group, int64_t pad, int64_t stride) {
  const int64_t oh = (x.dim(2) + 2 * pad - w.dim(2)) / stride + 1;
  const int64_t ow = (x.dim(3) + 2 * pad - w.dim(3)) / stride + 1;
  Tensor y = Tensor::create(DType::kF32, {x.dim(0), w.dim(0), oh, ow}).value();
  const int64_t cg = w.dim(1), ocg = w.dim(0) / group;
  int64_t at = 0;
  for (int64_t n = 0; n < x.dim(0); ++n)
    for (int64_t o = 0; o < w.dim(0); ++o)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j, ++at) {
          double sum = 0;
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t a = 0; a < w.dim(2); ++a)
              for (int64_t b = 0; b < w.dim(3); ++b) {
                const int64_t r = i * stride - pad + a, s = j * stride - pad + b;
                if (r < 0 || r >= x.dim(2) || s < 0 || s >= x.dim(3)) continue;
                const int64_t channel = (n * x.dim(1) + o / ocg * cg + c) * x.dim(2);
                sum += double{x.data<float>()[(channel + r) * x.dim(3) + s]} *
                       w.data<float>()[((o * cg + c) * w.dim(2) + a) * w.dim(3) + b];
              }
          y.data<float>()[at] = static_cast<float>(sum);
        }
  return y;
}

TEST(Conv, EqualsADirectLoopForEveryGroupingPadAndStride) {
  for (const int64_t group : {1, 2, 4}) {
    for (const int64_t pad : {0, 1, 2}) {
      for (const int64_t stride : {1, 2, 3}) {
        for (const int64_t kernel : {1, 3, 5}) {
          const Tensor x = noise({2, 4, 9, 8}), w = noise({8, 4 / group, kernel, kernel}, 5);
          const Node node = make_node("Conv", 2,
                                      {{"group", group},
                                       {"pads", list({pad, pad, pad, pad})},
                                       {"strides", list({stride, stride})}});
          test::expect_near(run_one(node, {x, w}), plain_conv(x, w, group, pad, stride));
        }
      }
    }
  }
}

TEST(Conv, IsRightAcrossTilesOfALargeImage) {
  const Tensor x = noise({1, 40, 60, 70}), w = noise({3, 40, 3, 3}, 5);
  const Node node = make_node("Conv", 2, {{"pads", list({1, 1, 1, 1})}});
  test::expect_near(run_one(node, {x, w}), plain_conv(x, w, 1, 1, 1), 1e-4);
}

TEST(Conv, RefusesWeightsThatDoNotFit) {
  const Node node = make_node("Conv", 2);
  const auto outputs = test::run_op(node, {noise({1, 3, 5, 5}), noise({2, 4, 3, 3})});
  ASSERT_FALSE(outputs);
  EXPECT_THAT(outputs.error().message, HasSubstr("[2,4,3,3]"));
  EXPECT_FALSE(test::run_op(node, {noise({1, 3, 2, 2}), noise({2, 3, 3, 3})}));
}

TEST(Broadcasting, FollowsNumPy) {
  const Tensor a = Tensor::of<float>({2, 1, 2}, {1, 2, 3, 4});
  const Tensor b = Tensor::of<float>({3, 1}, {10, 20, 30});
  EXPECT_EQ(test::floats(run_one(make_node("Add", 2), {a, b})),
            (std::vector<float>{11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34}));
  EXPECT_FALSE(test::run_op(make_node("Add", 2), {noise({2}), noise({3})}));
}

TEST(IntegerArithmetic, WrapsAndNeverTraps) {
  const int32_t low = -2147483647 - 1;
  const Tensor a = Tensor::of<int32_t>({3}, {low, 7, 7}), b = Tensor::of<int32_t>({3}, {-1, 0, -2});
  const auto run = [&](const char* op) { return run_one(make_node(op, 2), {a, b}).to_i64(); };
  EXPECT_EQ(run("Div"), (std::vector<int64_t>{low, 0, -3}));
  EXPECT_EQ(run("Add"), (std::vector<int64_t>{2147483647, 7, 5}));
  EXPECT_EQ(run("Mod"), (std::vector<int64_t>{0, 0, -1}));
}

TEST(Softmax, FlattensBeforeOpset13) {
  const Tensor x = noise({2, 3, 4});
  const Tensor old = run_one(make_node("Softmax", 1, {}, 11), {x});
  const Tensor now = run_one(make_node("Softmax", 1, {}, 13), {x});
  double sum = 0, row = 0;
  for (int i = 0; i < 12; ++i) sum += old.data<float>()[i];
  for (int i = 0; i < 4; ++i) row += now.data<float>()[i];
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(row, 1, 1e-6);
}

TEST(Softmax, SurvivesLargeValues) {
  const Tensor x = Tensor::of<float>({1, 3}, {1000, 1000, -1000});
  EXPECT_EQ(test::floats(run_one(make_node("Softmax", 1), {x})),
            (std::vector<float>{0.5f, 0.5f, 0}));
}

TEST(MatMul, BroadcastsBatches) {
  const Tensor a = noise({3, 1, 2, 4}), b = noise({5, 4, 3}, 9);
  const Tensor y = run_one(make_node("MatMul", 2), {a, b});
  ASSERT_EQ(y.shape(), (Shape{3, 5, 2, 3}));
  const int64_t i = 2, j = 4, r = 1, c = 2;
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    sum += double{a.data<float>()[(i * 2 + r) * 4 + k]} * b.data<float>()[(j * 4 + k) * 3 + c];
  }
  EXPECT_NEAR(y.data<float>()[((i * 5 + j) * 2 + r) * 3 + c], sum, 1e-6);
}

TEST(Slice, ClampsAndStepsBackwards) {
  const Tensor x = Tensor::of<int32_t>({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return run_one(make_node("Slice", 5), {x, Tensor::of({1}, {start}), Tensor::of({1}, {end}),
                                           Tensor::of<int64_t>({1}, {0}), Tensor::of({1}, {step})})
        .to_i64();
  };
  const int64_t low = std::numeric_limits<int64_t>::min(),
                high = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(slice(1, 4, 2), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(slice(-1, low, -1), (std::vector<int64_t>{4, 3, 2, 1, 0}));
  EXPECT_EQ(slice(high, 0, -2), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(slice(low, high, high), (std::vector<int64_t>{0}));
  EXPECT_EQ(slice(4, low, low), (std::vector<int64_t>{4}));
  EXPECT_EQ(slice(3, 1, 1), (std::vector<int64_t>{}));
}

TEST(Resize, NearestAsymmetricFloorRepeats) {
  const Tensor x = Tensor::of<float>({1, 1, 1, 2}, {1, 2});
  const Node node = make_node("Resize", 3,
                              {{"mode", std::string("nearest")},
                               {"coordinate_transformation_mode", std::string("asymmetric")},
                               {"nearest_mode", std::string("floor")}});
  const Tensor y =
      run_one(node, {x, Tensor::of<float>({0}, {}), Tensor::of<float>({4}, {1, 1, 2, 2})});
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 4}));
  EXPECT_EQ(test::floats(y), (std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2}));
}

TEST(BatchNormalization, KeepsAccuracyWithVariancesBeyondHalf) {
  const Tensor x = Tensor::of<float>({1, 1, 1, 2}, {30000, -30000});
  const Tensor y = run_one(make_node("BatchNormalization", 5),
                           {x, Tensor::of<float>({1}, {2}), Tensor::of<float>({1}, {1}),
                            Tensor::of<float>({1}, {100}), Tensor::of<float>({1}, {9.79036e7f})});
  const double deviation = std::sqrt(9.79036e7 + 1e-5);
  EXPECT_NEAR(y.data<float>()[0], 2 * (30000 - 100) / deviation + 1, 1e-5);
  EXPECT_NEAR(y.data<float>()[1], 2 * (-30000 - 100) / deviation + 1, 1e-5);
}

TEST(HalfInputs, AreWidenedAndNarrowed) {
  const Tensor x = Tensor::of<float>({3}, {1, 2, 4}).cast(DType::kF16).value();
  const Tensor y = run_one(make_node("Sqrt", 1), {x});
  EXPECT_EQ(y.dtype(), DType::kF16);
  EXPECT_NEAR(y.to_f64()[1], 1.41421356, 1e-3);
  const Tensor moved = run_one(make_node("Transpose", 1), {x});
  EXPECT_EQ(moved.dtype(), DType::kF16);
}

TEST(IntegerProducts, AreExact) {
  for (const int64_t k : {3000, 30000}) {
    Tensor a = Tensor::create(DType::kU8, {1, k}).value(),
           b = Tensor::create(DType::kU8, {k, 1}).value();
    for (int64_t i = 0; i < k; ++i) {
      a.data<uint8_t>()[i] = static_cast<uint8_t>(255 - i % 3);
      b.data<uint8_t>()[i] = static_cast<uint8_t>(253 + i % 3);
    }
    int64_t want = 0;
    for (int64_t i = 0; i < k; ++i) want += int64_t{255 - i % 3} * (253 + i % 3 - 7);
    const Tensor y = run_one(make_node("MatMulInteger", 4),
                             {a, b, Tensor::scalar<uint8_t>(0), Tensor::scalar<uint8_t>(7)});
    EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{want}));
  }
}

}  // namespace
}  // namespace clvet
