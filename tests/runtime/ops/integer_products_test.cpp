// MatMulInteger, ConvInteger and DynamicQuantizeLinear against exact integer loops.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::Index;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
Tensor bytes(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::create(DTypeOf<T>::kValue, shape).value();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    tensor.data<T>()[i] = static_cast<T>(seed >> 24);
  }
  return tensor;
}

// Sums of integers below 2^53 in double are exact.
TEST(MatMulInteger, SubtractsAZeroPointForEachRowAndColumn) {
  const Tensor a = bytes<uint8_t>({3, 5}, 1), b = bytes<int8_t>({5, 4}, 2);
  const Tensor a_zeros[] = {Tensor::scalar<uint8_t>(200), Tensor::of<uint8_t>({3}, {0, 255, 7})};
  const Tensor b_zeros[] = {Tensor::scalar<int8_t>(-128), Tensor::of<int8_t>({4}, {1, -1, 127, 0})};
  for (const Tensor& a_zero : a_zeros) {
    for (const Tensor& b_zero : b_zeros) {
      const Grid x(a), w(b), xz(a_zero), wz(b_zero);
      const Grid want({3, 4}, [&](const Index& at) {
        double sum = 0;
        for (int64_t k = 0; k < 5; ++k) {
          sum += (x.at({at[0], k}) - xz.spread({at[0]})) * (w.at({k, at[1]}) - wz.spread({at[1]}));
        }
        return sum;
      });
      const Tensor y = test::run_one(make_node("MatMulInteger", 4), {a, b, a_zero, b_zero});
      EXPECT_EQ(y.dtype(), DType::kI32);
      test::expect_grid(y, want, 0);
    }
  }
}

TEST(MatMulInteger, TakesBatchesAndVectors) {
  const Tensor a = Tensor::of<uint8_t>({2, 1, 2}, {1, 2, 3, 4}),
               b = Tensor::of<uint8_t>({2}, {10, 1});
  EXPECT_EQ(test::run_one(make_node("MatMulInteger", 2), {a, b}).to_i64(),
            (std::vector<int64_t>{12, 34}));
  const Tensor row = Tensor::of<int8_t>({2}, {-1, 3}),
               matrix = Tensor::of<int8_t>({2, 1}, {-128, 127});
  EXPECT_EQ(test::run_one(make_node("MatMulInteger", 2), {row, matrix}).to_i64(),
            (std::vector<int64_t>{128 + 381}));
}

// The longest product whose sum of the largest terms an int32 holds, and each length at which the
// runtime goes another way.
TEST(MatMulInteger, IsExactForEveryLength) {
  for (const int64_t k : {1, 4095, 4096, 4097, 65535, 65537, 132103}) {
    Tensor a = Tensor::create(DType::kU8, {1, k}).value(),
           b = Tensor::create(DType::kU8, {k, 1}).value();
    std::fill_n(a.data<uint8_t>(), k, uint8_t{127});
    std::fill_n(b.data<uint8_t>(), k, uint8_t{127});
    a.data<uint8_t>()[k - 1] = 126;
    const Tensor y = test::run_one(make_node("MatMulInteger", 2), {a, b});
    EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{k * 127 * 127 - 127})) << k;
  }
}

TEST(MatMulInteger, RefusesTypesAndZeroPointsThatDoNotFit) {
  const Tensor a = bytes<uint8_t>({3, 5}, 1), b = bytes<uint8_t>({5, 4}, 2);
  const auto why = [&](const Tensor& a_zero, const Tensor& b_zero) {
    return refusal(make_node("MatMulInteger", 4), {a, b, a_zero, b_zero});
  };
  const Tensor none = Tensor::scalar<uint8_t>(0);
  EXPECT_THAT(why(bytes<uint8_t>({2}, 1), none), HasSubstr("2 zero points"));
  EXPECT_THAT(why(none, bytes<uint8_t>({5}, 1)), HasSubstr("5 zero points"));
  EXPECT_THAT(why(none, bytes<uint8_t>({0}, 1)), HasSubstr("0 zero points"));
  EXPECT_THAT(refusal(make_node("MatMulInteger", 2), {a, noise({5, 4})}),
              HasSubstr("the type f32"));
  EXPECT_THAT(refusal(make_node("MatMulInteger", 2), {a, a}), HasSubstr("[3,5] by [3,5]"));
  EXPECT_THAT(refusal(make_node("MatMulInteger", 2), {Tensor::scalar<uint8_t>(1), b}),
              HasSubstr("scalar"));
}

// Padding counts as the zero point, that is 0 once that is taken off.
TEST(ConvInteger, PadsWithTheZeroPoint) {
  const Tensor x = bytes<uint8_t>({2, 2, 3, 4}, 3), w = bytes<int8_t>({3, 2, 2, 2}, 4);
  const Tensor w_zero = Tensor::of<int8_t>({3}, {5, -7, 0});
  const Grid gx(x), gw(w), zeros(w_zero);
  const Grid want({2, 3, 4, 4}, [&](const Index& at) {
    double sum = 0;
    test::each_index({2, 2, 2}, [&](const Index& tap) {
      sum += (gx.at({at[0], tap[0], at[2] - 1 + tap[1], at[3] - 1 + tap[2]}, 100) - 100) *
             (gw.at({at[1], tap[0], tap[1], tap[2]}) - zeros.at({at[1]}));
    });
    return sum;
  });
  const Node node = make_node("ConvInteger", 4, {{"pads", list({1, 1, 1, 0})}});
  test::expect_grid(test::run_one(node, {x, w, Tensor::scalar<uint8_t>(100), w_zero}), want, 0);
}

TEST(ConvInteger, TakesOneZeroPointForItsInput) {
  const Tensor x = bytes<uint8_t>({2, 2, 3, 4}, 3), w = bytes<uint8_t>({3, 2, 2, 2}, 4);
  EXPECT_THAT(refusal(make_node("ConvInteger", 3), {x, w, bytes<uint8_t>({2}, 1)}),
              HasSubstr("2 zero points"));
  EXPECT_THAT(refusal(make_node("ConvInteger", 4),
                      {x, w, Tensor::scalar<uint8_t>(0), bytes<uint8_t>({2}, 1)}),
              HasSubstr("2 zero points"));
}

struct Quantised {
  std::vector<int64_t> y;
  double scale;
  int64_t zero;
};
Quantised quantised(std::vector<float> values) {
  const Tensor x = Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
  const auto outputs = test::run_op(make_node("DynamicQuantizeLinear", 1, {}, 11, 3), {x});
  EXPECT_TRUE(outputs) << outputs.error().message;
  if (!outputs) return {};
  EXPECT_EQ(to_string((*outputs)[1].type()) + to_string((*outputs)[2].type()), "f32[]u8[]");
  return {(*outputs)[0].to_i64(), (*outputs)[1].to_f64()[0], (*outputs)[2].to_i64()[0]};
}

// The three examples of ONNX's own test of the operator.
TEST(DynamicQuantizeLinear, EqualsOnnxsExamples) {
  const Quantised a = quantised({0, 2, -3, -2.5f, 1.34f, 0.5f});
  EXPECT_NEAR(a.scale, 0.0196078438, 1e-9);
  EXPECT_EQ(a.zero, 153);
  EXPECT_THAT(a.y, ElementsAre(153, 255, 0, 26, 221, 179));
  const Quantised negative = quantised({-1, -2.1f, -1.3f, -2.5f, -3.34f, -4});
  EXPECT_NEAR(negative.scale, 0.0156862754, 1e-9);
  EXPECT_EQ(negative.zero, 255);
  EXPECT_THAT(negative.y, ElementsAre(191, 121, 172, 96, 42, 0));
  const Quantised positive = quantised({1, 2.1f, 1.3f, 2.5f, 3.34f, 4});
  EXPECT_EQ(positive.zero, 0);
  EXPECT_THAT(positive.y, ElementsAre(64, 134, 83, 159, 213, 255));
}

TEST(DynamicQuantizeLinear, TakesZeroesAndNothing) {
  EXPECT_THAT(quantised({0, -0.f}).y, ElementsAre(0, 0));
  EXPECT_EQ(quantised({0}).scale, 1) << "as onnxruntime has it: what is divided by it stays finite";
  EXPECT_EQ(quantised({}).scale, 1);
  EXPECT_EQ(quantised({1e-45f}).zero, 0);
}

TEST(DynamicQuantizeLinear, WantsAllThreeOutputsAndFloats) {
  EXPECT_THAT(refusal(make_node("DynamicQuantizeLinear", 1), {noise({2})}), HasSubstr("1 outputs"));
  EXPECT_THAT(refusal(make_node("DynamicQuantizeLinear", 1, {}, 11, 3), {test::i64s({2})}),
              HasSubstr("does not support the type i64"));
}

}  // namespace
}  // namespace clvet
