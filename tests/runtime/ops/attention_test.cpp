// Attention, RotaryEmbedding and TensorScatter, AffineGrid, Col2Im and LpPool: small results by
// hand, and what is refused. ONNX's own cases cover the rest (ci/conformance.sh).
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::counting;
using test::floats;
using test::i64s;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using test::run_one;
using test::word;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

// Keys of zeros weigh all values alike.
TEST(Attention, WeighsValuesAndLooksAtNoneThatComesLater) {
  const Tensor q = noise({1, 1, 2, 2}), k = Tensor::create(DType::kF32, {1, 1, 2, 2}).value();
  const Tensor v = Tensor::of<float>({1, 1, 2, 1}, {2, 4});
  EXPECT_THAT(floats(run_one(make_node("Attention", 3, {}, 23), {q, k, v})), ElementsAre(3, 3));
  EXPECT_THAT(
      floats(run_one(make_node("Attention", 3, {{"is_causal", int64_t{1}}}, 23), {q, k, v})),
      ElementsAre(2, 3));
  const Tensor mask = Tensor::of<bool>({2, 2}, {false, true, true, false});
  EXPECT_THAT(floats(run_one(make_node("Attention", 4, {}, 23), {q, k, v, mask})),
              ElementsAre(4, 2));
}

TEST(Attention, RefusesHeadsAndMasksThatDoNotFit) {
  const Tensor q = noise({1, 3, 2, 4}), k = noise({1, 2, 5, 4});
  EXPECT_THAT(refusal(make_node("Attention", 3, {}, 23), {q, k, k}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(make_node("Attention", 3, {}, 23), {noise({1, 2, 4}), k, k}),
              HasSubstr("cannot have the shape"));
  const Tensor one = noise({1, 1, 2, 4});
  EXPECT_THAT(refusal(make_node("Attention", 4, {}, 23), {one, one, one, noise({2, 3})}),
              HasSubstr("do not fit"));
  EXPECT_THAT(refusal(make_node("Attention", 4, {}, 23), {one, one, one, i64s({1, 2})}),
              HasSubstr("the type i64"));
}

TEST(RotaryEmbedding, TurnsPairsByTheAnglesOfTheirPositions) {
  const Tensor x = Tensor::of<float>({1, 1, 1, 3}, {1, 2, 9});
  const Tensor cosines = Tensor::of<float>({2, 1}, {1, 0}),
               sines = Tensor::of<float>({2, 1}, {0, 1});
  const auto node = make_node("RotaryEmbedding", 4, {{"rotary_embedding_dim", int64_t{2}}}, 23);
  const auto at = [](int64_t position) { return Tensor::of<int64_t>({1, 1}, {position}); };
  EXPECT_THAT(floats(run_one(node, {x, cosines, sines, at(1)})), ElementsAre(-2, 1, 9));
  EXPECT_THAT(refusal(node, {x, cosines, sines, at(2)}), HasSubstr("out of range"));
  EXPECT_THAT(refusal(node, {x, cosines, sines, at(-1)}), HasSubstr("out of range"));
  EXPECT_THAT(refusal(make_node("RotaryEmbedding", 4, {}, 23), {x, cosines, sines, at(0)}),
              HasSubstr("rotary_embedding_dim"));
}

TEST(TensorScatter, WritesFromAnIndexOnAndRoundTheEndIfItIsToldSo) {
  const Tensor cache = counting({1, 3, 1}), rows = Tensor::of<float>({1, 2, 1}, {8, 9});
  const Node linear = make_node("TensorScatter", 3, {}, 24);
  EXPECT_THAT(floats(run_one(linear, {cache, rows, i64s({1})})), ElementsAre(0, 8, 9));
  EXPECT_THAT(refusal(linear, {cache, rows, i64s({2})}), HasSubstr("out of range"));
  const Node round = make_node("TensorScatter", 3, {{"mode", word("circular")}}, 24);
  EXPECT_THAT(floats(run_one(round, {cache, rows, i64s({2})})), ElementsAre(9, 1, 8));
  EXPECT_THAT(refusal(round, {cache, rows, i64s({3})}), HasSubstr("out of range"));
}

TEST(AffineGrid, PutsThePositionsOfTheIdentityInTheMiddlesOfThePixels) {
  const Tensor theta = Tensor::of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_THAT(floats(run_one(make_node("AffineGrid", 2, {}, 20), {theta, i64s({1, 1, 1, 2})})),
              ElementsAre(-0.5f, 0, 0.5f, 0));
  EXPECT_THAT(refusal(make_node("AffineGrid", 2, {}, 20), {theta, i64s({1, 1, -1, 2})}),
              HasSubstr("cannot be -1"));
  EXPECT_FALSE(test::run_op(make_node("AffineGrid", 2, {}, 20),
                            {theta, i64s({1, 1, int64_t{1} << 32, int64_t{1} << 32})}));
}

TEST(Col2Im, AddsWhatOverlapsAndRefusesSizesThatLie) {
  const Tensor x = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4});
  const auto run = [&](const std::vector<int64_t>& image, const std::vector<int64_t>& block) {
    return refusal(make_node("Col2Im", 3, {}, 18), {x, i64s(image), i64s(block)});
  };
  EXPECT_THAT(floats(run_one(make_node("Col2Im", 3, {}, 18), {x, i64s({3}), i64s({2})})),
              ElementsAre(1, 5, 4));
  EXPECT_THAT(run({4}, {2}), HasSubstr("do not fit"));
  EXPECT_THAT(run({3}, {0}), HasSubstr("cannot be 0"));
  EXPECT_THAT(run({int64_t{1} << 40}, {2}), HasSubstr("cannot be"));
  EXPECT_THAT(
      refusal(make_node("Col2Im", 3, {{"strides", list({0})}}, 18), {x, i64s({3}), i64s({2})}),
      HasSubstr("strides"));
}

TEST(LpPool, TakesTheRootOfTheSumOfPowers) {
  const Tensor x = Tensor::of<float>({1, 1, 2}, {3, -4});
  EXPECT_THAT(floats(run_one(make_node("LpPool", 1, {{"kernel_shape", list({2})}}), {x})),
              ElementsAre(FloatNear(5, 1e-6f)));
  EXPECT_THAT(
      refusal(make_node("LpPool", 1, {{"kernel_shape", list({2})}, {"p", int64_t{0}}}), {x}),
      HasSubstr("attribute p"));
}

}  // namespace
}  // namespace clvet
