// Gemm and MatMul against loops in float64.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/graph/attribute.h"
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
using ::testing::HasSubstr;

Attributes gemm_attributes(bool trans_a, bool trans_b, double alpha, double beta) {
  return {
      {"transA", int64_t{trans_a}}, {"transB", int64_t{trans_b}}, {"alpha", alpha}, {"beta", beta}};
}

// 5 terms below 1 in float32.
TEST(Gemm, EqualsTheFormulaForEveryTransposeAndEveryC) {
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const Shape& c_shape :
           {Shape{}, Shape{1}, Shape{4}, Shape{1, 4}, Shape{3, 1}, Shape{3, 4}}) {
        const Tensor a = noise(trans_a ? Shape{5, 3} : Shape{3, 5}, 2);
        const Tensor b = noise(trans_b ? Shape{4, 5} : Shape{5, 4}, 3), c = noise(c_shape, 4);
        const Grid ga(a), gb(b), gc(c);
        const Grid want({3, 4}, [&](const Index& at) {
          double sum = 0;
          for (int64_t k = 0; k < 5; ++k) {
            sum += ga.at(trans_a ? Index{k, at[0]} : Index{at[0], k}) *
                   gb.at(trans_b ? Index{at[1], k} : Index{k, at[1]});
          }
          return 0.75 * sum - 1.5 * gc.spread(at);
        });
        const Node node = make_node("Gemm", 3, gemm_attributes(trans_a, trans_b, 0.75, -1.5));
        test::expect_grid(test::run_one(node, {a, b, c}), want, 2e-6);
        std::vector<Tensor> wide;
        for (const Tensor& tensor : {a, b, c}) wide.push_back(tensor.cast(DType::kF64).value());
        test::expect_grid(test::run_one(node, wide), want, 1e-14);
      }
    }
  }
}

TEST(Gemm, OfNoTermsIsTheScaledC) {
  const Node node = make_node("Gemm", 3, gemm_attributes(false, false, 3, 2));
  const Tensor c = Tensor::of<float>({2}, {1, -1});
  EXPECT_EQ(test::floats(test::run_one(node, {noise({2, 0}), noise({0, 2}), c})),
            (std::vector<float>{2, -2, 2, -2}));
  EXPECT_EQ(test::run_one(node, {noise({0, 3}), noise({3, 2}), c}).shape(), (Shape{0, 2}));
}

TEST(Gemm, IgnoresCWhereBetaIsZero) {
  const Node node = make_node("Gemm", 3, gemm_attributes(false, false, 1, 0));
  const Tensor one = Tensor::of<float>({1, 1}, {1});
  const Tensor infinite = Tensor::of<float>({1, 1}, {std::numeric_limits<float>::infinity()});
  const std::vector<Tensor> inputs = {one, one, infinite};
  EXPECT_EQ(test::floats(test::run_one(node, inputs)), (std::vector<float>{1}));
  const OpCall call = test::make_call(node, inputs, {false, true, true});
  EXPECT_EQ(node.def->constant(call, {"bias"}), (std::vector<double>{0}));
}

TEST(Gemm, OfIntegersIsExactAndTakesNoFractions) {
  const int64_t big = (int64_t{1} << 53) + 1;  // no double holds it
  const Tensor a = Tensor::of<int64_t>({1, 2}, {big, 1}), b = Tensor::of<int64_t>({2, 1}, {3, -2});
  const auto node = [](double alpha, double beta) {
    return make_node("Gemm", 3, gemm_attributes(false, false, alpha, beta));
  };
  const Tensor c = Tensor::of<int64_t>({1}, {5});
  EXPECT_EQ(test::run_one(node(2, -1), {a, b, c}).to_i64(),
            (std::vector<int64_t>{6 * big - 4 - 5}));
  EXPECT_THAT(refusal(node(0.5, 1), {a, b, c}), HasSubstr("0.5"));
  EXPECT_THAT(refusal(node(1, 1.5), {a, b, c}), HasSubstr("1.5"));
}

TEST(Gemm, RefusesShapesThatDoNotFit) {
  const struct {
    Shape a, b, c;
    bool trans_a;
    const char* part;
  } faults[] = {
      {{2, 3}, {2, 4}, {4}, false, "[2,3] by [2,4]"},
      {{2, 3}, {3, 4}, {4}, true, "[2,3] by [3,4]"},
      {{2, 3, 1}, {3, 4}, {4}, false, "[2,3,1]"},
      {{3}, {3, 4}, {4}, false, "Gemm cannot multiply [3]"},
      {{2, 3}, {3, 4}, {3}, false, "C [3]"},
      {{2, 3}, {3, 4}, {3, 4}, false, "C [3,4]"},
      {{1, 3}, {3, 4}, {2, 4}, false, "C [2,4]"},
      {{2, 3}, {3, 4}, {1, 2, 4}, false, "C [1,2,4]"},
  };
  for (const auto& fault : faults) {
    const Node node = make_node("Gemm", 3, {{"transA", int64_t{fault.trans_a}}});
    EXPECT_THAT(refusal(node, {noise(fault.a), noise(fault.b), noise(fault.c)}),
                HasSubstr(fault.part));
  }
}

TEST(Gemm, GivesTheKernelScaledWeightsAndASpreadBias) {
  const Node node = make_node("Gemm", 3, gemm_attributes(false, true, 0.5, 2));
  const std::vector<Tensor> inputs = {noise({3, 2}), test::counting({3, 2}), Tensor::scalar(7.f)};
  const OpCall call = test::make_call(node, inputs, {false, true, true});
  EXPECT_EQ(node.def->constant(call, {"w"}), (std::vector<double>{0, 1, 2, 0.5, 1.5, 2.5}));
  EXPECT_EQ(node.def->constant(call, {"bias"}), (std::vector<double>{14, 14, 14}));
}

TEST(MatMul, EqualsTheFormulaForEveryRank) {
  const struct {
    Shape a, b, out;
  } cases[] = {
      {{4}, {4}, {}},
      {{4}, {4, 3}, {3}},
      {{2, 4}, {4}, {2}},
      {{2, 4}, {4, 3}, {2, 3}},
      {{4}, {2, 4, 3}, {2, 3}},
      {{5, 2, 4}, {4}, {5, 2}},
      {{5, 2, 4}, {4, 3}, {5, 2, 3}},
      {{5, 2, 4}, {1, 4, 3}, {5, 2, 3}},
      {{2, 4}, {5, 4, 3}, {5, 2, 3}},
      {{2, 1, 2, 4}, {3, 4, 3}, {2, 3, 2, 3}},
      {{1, 3, 2, 4}, {2, 1, 4, 3}, {2, 3, 2, 3}},
      {{2, 4}, {1, 1, 4, 3}, {1, 1, 2, 3}},
  };
  for (const auto& c : cases) {
    const Tensor a = noise(c.a, 5), b = noise(c.b, 6);
    const Shape left = c.a.size() == 1 ? Shape{1, c.a[0]} : c.a;
    const Shape right = c.b.size() == 1 ? Shape{c.b[0], 1} : c.b;
    const Grid ga(a.reshaped(left)), gb(b.reshaped(right));
    const Grid want(c.out, [&](const Index& at) {
      Index full = at;
      if (c.b.size() == 1) full.push_back(0);
      if (c.a.size() == 1) full.insert(full.end() - 1, 0);
      while (full.size() < std::max(left.size(), right.size())) full.insert(full.begin(), 0);
      double sum = 0;
      for (int64_t k = 0; k < 4; ++k) {
        Index x = full, y = full;
        x.back() = k;
        y[y.size() - 2] = k;
        sum += ga.spread(x) * gb.spread(y);
      }
      return sum;
    });
    SCOPED_TRACE(to_string(c.a) + to_string(c.b));
    test::at_each_width([&] {
      test::expect_grid(test::run_one(make_node("MatMul", 2), {a, b}), want, 1e-6);
    });
    const Tensor wide_a = a.cast(DType::kF64).value(), wide_b = b.cast(DType::kF64).value();
    test::expect_grid(test::run_one(make_node("MatMul", 2), {wide_a, wide_b}), want, 1e-14);
  }
}

TEST(MatMul, AddsAPassesBiasToEachBatch) {
  const Tensor ones = Tensor::of<float>({2, 1, 1}, {1, 2}),
               row = Tensor::of<float>({1, 2}, {10, 20});
  const Tensor bias = Tensor::of<float>({2}, {3, 4});
  EXPECT_EQ(test::floats(test::run_one(make_node("MatMul", 3), {ones, row, bias})),
            (std::vector<float>{13, 24, 23, 44}));
  EXPECT_EQ(
      test::floats(test::run_one(make_node("MatMul", 3), {noise({1, 0}), noise({0, 2}), bias})),
      (std::vector<float>{3, 4}));
}

TEST(MatMul, OfNoTermsIsZeroAndOfNoRowsEmpty) {
  const Node node = make_node("MatMul", 2);
  EXPECT_EQ(test::floats(test::run_one(node, {noise({2, 0}), noise({0, 1})})),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(test::run_one(node, {noise({0, 3, 4}), noise({4, 2})}).shape(), (Shape{0, 3, 2}));
  EXPECT_EQ(test::run_one(node, {noise({1, 3, 4}), noise({0, 4, 2})}).shape(), (Shape{0, 3, 2}));
}

TEST(MatMul, WrapsIntegers) {
  const Tensor a = Tensor::of<uint8_t>({1, 2}, {200, 100}), b = Tensor::of<uint8_t>({2, 1}, {2, 3});
  EXPECT_EQ(test::run_one(make_node("MatMul", 2), {a, b}).to_i64(),
            (std::vector<int64_t>{700 % 256}));
}

TEST(MatMul, KeepsNansAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor a = Tensor::of<float>({2, 2}, {inf, 1, 0, 1}),
               b = Tensor::of<float>({2, 1}, {1, inf});
  EXPECT_EQ(test::floats(test::run_one(make_node("MatMul", 2), {a, b})),
            (std::vector<float>{inf, inf}));
  const Tensor zero = Tensor::of<float>({2, 1}, {0, 0});
  EXPECT_TRUE(std::isnan(test::floats(test::run_one(make_node("MatMul", 2), {a, zero}))[0]));
}

TEST(MatMul, RefusesShapesThatDoNotFit) {
  const struct {
    std::vector<Shape> inputs;
    const char* part;
  } faults[] = {
      {{{}, {3}}, "scalar"},
      {{{3}, {4}}, "[3] by [4]"},
      {{{2, 3}, {2, 3}}, "[2,3] by [2,3]"},
      {{{2, 2, 3}, {3, 3, 2}}, "[2] and [3] cannot be broadcast together"},
      {{{2, 3}, {3, 4}, {3}}, "bias [3] does not fit 4"},
  };
  for (const auto& fault : faults) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : fault.inputs) inputs.push_back(noise(shape));
    EXPECT_THAT(refusal(make_node("MatMul", inputs.size()), inputs), HasSubstr(fault.part));
  }
}

TEST(MatMul, LowersWeightsToOneProductOfAllRows) {
  const Lowering lowering =
      test::lowered(make_node("MatMul", 2), {noise({2, 3, 4}), noise({4, 5})});
  ASSERT_EQ(lowering.calls.size(), 1u) << lowering.reason;
  EXPECT_EQ(lowering.calls[0].op, "gemm");
  EXPECT_EQ(lowering.calls[0].dims.at("M"), 6);
  EXPECT_EQ(lowering.calls[0].dims.at("N"), 5);
  EXPECT_EQ(lowering.calls[0].dims.at("K"), 4);
  EXPECT_EQ(test::lowered(make_node("MatMul", 2), {noise({2, 4}), noise({4})}).reason,
            "an operand is a vector");
}

}  // namespace
}  // namespace clvet
