// DFT, STFT and MelWeightMatrix against sums over all terms in double.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::make_node;
using test::noise;
using test::refusal;
using ::testing::HasSubstr;

Tensor one(int64_t value) { return Tensor::scalar(value); }

Node dft(size_t inputs, Attributes attributes = {}, int opset = 20) {
  return make_node("DFT", inputs, std::move(attributes), opset);
}

// Of one line of complex numbers, which lie one after the other.
std::vector<float> by_sums(const std::vector<float>& x, bool inverse) {
  const size_t n = x.size() / 2;
  std::vector<float> y;
  for (size_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (size_t t = 0; t < n; ++t) {
      const double turn = static_cast<double>(k * t % n) / static_cast<double>(n);
      sum += std::complex<double>(x[2 * t], x[2 * t + 1]) *
             std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * turn);
    }
    if (inverse) sum /= static_cast<double>(n);
    y.push_back(static_cast<float>(sum.real()));
    y.push_back(static_cast<float>(sum.imag()));
  }
  return y;
}

TEST(Dft, IsTheSumOverAllTermsForEveryLength) {
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 31, 64, 97, 400}) {
    for (const int64_t inverse : {0, 1}) {
      const Tensor x = noise({1, n, 2}, static_cast<uint32_t>(n));
      const Tensor y = test::run_one(dft(1, {{"inverse", inverse}}), {x});
      const std::vector<float> wanted = by_sums(test::floats(x), inverse != 0);
      test::expect_near(y, Tensor::from(Shape{1, n, 2}, std::span<const float>(wanted)), 1e-5);
    }
  }
}

TEST(Dft, FillsUpWithZerosOrLeavesTheEndAway) {
  const Tensor x = Tensor::of<float>({1, 3, 1}, {1, 2, 4});
  test::expect_near(test::run_one(dft(2), {x, one(2)}),
                    Tensor::of<float>({1, 2, 2}, {3, 0, -1, 0}));
  test::expect_near(test::run_one(dft(2), {x, one(4)}),
                    Tensor::of<float>({1, 4, 2}, {7, 0, -3, -2, 3, 0, -3, 2}));
}

TEST(Dft, TakesItsAxisFromTheAttributeInOldModelsAndFromTheInputInNew) {
  const Tensor x = noise({2, 3, 5, 1});
  EXPECT_EQ(test::inferred(dft(1, {{"onesided", int64_t{1}}}, 17), {x}), "f32[2,2,5,2]");
  EXPECT_EQ(test::inferred(dft(1, {{"onesided", int64_t{1}}}), {x}), "f32[2,3,3,2]");
  const Tensor first = test::run_one(dft(1, {{"axis", int64_t{0}}}, 17), {x});
  Node node = dft(3);
  node.inputs[1] = kNoValue;
  const Tensor axis = one(-4);
  const auto second = run_node(node, std::vector<const Tensor*>{&x, nullptr, &axis});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(bitwise_equal(first, second->at(0)));
}

TEST(Dft, RefusesWhatHasNoTransform) {
  const Tensor x = noise({1, 4, 2});
  EXPECT_THAT(refusal(dft(1, {{"onesided", int64_t{1}}}), {x}), HasSubstr("onesided cannot be 1"));
  EXPECT_THAT(refusal(dft(2), {x, one(0)}), HasSubstr("input 1 cannot be 0"));
  EXPECT_THAT(refusal(dft(2), {x, one(std::numeric_limits<int64_t>::max())}),
              HasSubstr("elements"));
  EXPECT_THAT(refusal(dft(1), {noise({1, 4, 3})}), HasSubstr("cannot have the shape [1,4,3]"));
  EXPECT_THAT(refusal(dft(1), {noise({2})}), HasSubstr("cannot have the shape [2]"));
  EXPECT_THAT(refusal(dft(1), {noise({1, 0, 1})}), HasSubstr("cannot have the shape [1,0,1]"));
  EXPECT_THAT(refusal(dft(1, {{"axis", int64_t{2}}}, 17), {x}), HasSubstr("the last one"));
}

TEST(Stft, TransformsEachFrameUnderItsWindow) {
  const Tensor x = noise({2, 11, 1}), window = noise({4}, 7);
  const Tensor y = test::run_one(make_node("STFT", 3, {}, 17), {x, one(3), window});
  ASSERT_EQ(y.shape(), (Shape{2, 3, 3, 2}));
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t frame = 0; frame < 3; ++frame) {
      std::vector<float> line;
      for (int64_t t = 0; t < 4; ++t) {
        line.push_back(x.data<float>()[n * 11 + frame * 3 + t] * window.data<float>()[t]);
        line.push_back(0);
      }
      const std::vector<float> wanted = by_sums(line, false);
      for (int64_t k = 0; k < 6; ++k)
        EXPECT_NEAR(y.data<float>()[(n * 3 + frame) * 6 + k], wanted[static_cast<size_t>(k)], 1e-5);
    }
  }
}

TEST(Stft, RefusesFramesThatDoNotFit) {
  const Node node = make_node("STFT", 3, {}, 17);
  const Tensor x = noise({1, 8, 1});
  EXPECT_THAT(refusal(node, {x, one(0), noise({4})}), HasSubstr("input 1 cannot be 0"));
  EXPECT_THAT(refusal(node, {x, one(1), noise({9})}), HasSubstr("cannot have the shape [1,8,1]"));
  EXPECT_THAT(refusal(node, {noise({1, 8, 2}), one(1), noise({4})}), HasSubstr("onesided"));
  EXPECT_THAT(refusal(node, {noise({8, 1}), one(1), noise({4})}), HasSubstr("shape [8,1]"));
}

TEST(MelWeightMatrix, HasATriangleInEachColumn) {
  const auto number = [](float hertz) { return Tensor::scalar(hertz); };
  const Node node = make_node("MelWeightMatrix", 5, {}, 17);
  // ONNX's own example: the edges are the bins 0, 1, 2, 3, 4, 6, 8 (and 9) of 9.
  const Tensor y = test::run_one(node, {one(8), one(16), one(8192), number(0), number(8192 / 2)});
  ASSERT_EQ(y.shape(), (Shape{9, 8}));
  for (int64_t band = 0; band < 8; ++band) {
    float most = 0;
    for (int64_t bin = 0; bin < 9; ++bin) most = std::max(most, y.data<float>()[bin * 8 + band]);
    EXPECT_EQ(most, 1) << band;
  }
  EXPECT_THAT(refusal(node, {one(8), one(16), one(8192), number(0), number(5000)}),
              HasSubstr("input 4 cannot be 5000"));
  EXPECT_THAT(refusal(node, {one(8), one(0), one(8192), number(0), number(4000)}),
              HasSubstr("input 1 cannot be 0"));
  EXPECT_THAT(refusal(node, {one(-1), one(16), one(8192), number(0), number(4000)}),
              HasSubstr("input 0 cannot be -1"));
  EXPECT_THAT(refusal(node, {one(8), one(16), one(8192), number(std::nanf("")), number(4000)}),
              HasSubstr("input 3 cannot be nan"));
}

}  // namespace
}  // namespace clvet
