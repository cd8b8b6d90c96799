// Det, GlobalLpPool, MaxUnpool and DeformConv, by hand.
#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::i64s;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Det, IsOneNumberForEachMatrix) {
  const Node node = make_node("Det", 1);
  EXPECT_THAT(test::floats(test::run_one(node, {Tensor::of<float>({2, 2}, {1, 2, 3, 4})})),
              ElementsAre(-2));
  const Tensor two = Tensor::of<float>({2, 2, 2}, {0, 1, 1, 0, 1, 2, 2, 4});
  EXPECT_THAT(test::floats(test::run_one(node, {two})), ElementsAre(-1, 0));
  EXPECT_THAT(test::floats(test::run_one(node, {Tensor::create(DType::kF32, {1, 0, 0}).value()})),
              ElementsAre(1));
  EXPECT_THAT(refusal(node, {noise({2, 3})}), HasSubstr("cannot have the shape [2,3]"));
}

TEST(GlobalLpPool, IsTheNormOfAChannel) {
  const Tensor x = Tensor::of<float>({1, 2, 2}, {3, -4, 1, 0});
  EXPECT_THAT(test::floats(test::run_one(make_node("GlobalLpPool", 1), {x})), ElementsAre(5, 1));
  const Node sums = make_node("GlobalLpPool", 1, {{"p", int64_t{1}}});
  EXPECT_THAT(test::floats(test::run_one(sums, {x})), ElementsAre(7, 1));
  EXPECT_THAT(refusal(make_node("GlobalLpPool", 1, {{"p", int64_t{0}}}), {x}),
              HasSubstr("p cannot be 0"));
}

TEST(MaxUnpool, PutsValuesBack) {
  const Attributes twos = {{"kernel_shape", list({2})}, {"strides", list({2})}};
  const Tensor x = Tensor::of<float>({1, 1, 2}, {5, 6});
  const Tensor at = Tensor::of<int64_t>({1, 1, 2}, {1, 2});
  EXPECT_THAT(test::floats(test::run_one(make_node("MaxUnpool", 2, twos), {x, at})),
              ElementsAre(0, 5, 6, 0));
  const Tensor wider = test::run_one(make_node("MaxUnpool", 3, twos), {x, at, i64s({1, 1, 5})});
  EXPECT_THAT(test::floats(wider), ElementsAre(0, 5, 6, 0, 0));
  for (const int64_t outside : {-1, 4}) {
    EXPECT_THAT(
        refusal(make_node("MaxUnpool", 2, twos), {x, Tensor::of<int64_t>({1, 1, 2}, {0, outside})}),
        HasSubstr("out of range"));
  }
  EXPECT_THAT(refusal(make_node("MaxUnpool", 3, twos), {x, at, i64s({1, 1, -5})}),
              HasSubstr("negative"));
}

TEST(DeformConv, SeesWhereItsOffsetsPoint) {
  const Tensor x = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor w = Tensor::of<float>({1, 1, 1, 1}, {10});
  // Down by a half; right by one and a half, where the half outside is 0; outside; not at all.
  const Tensor offset = Tensor::of<float>({1, 2, 2, 2}, {0.5f, 0, 9, 0, 0, 0.5f, 0, 0});
  const Node node = make_node("DeformConv", 3, {}, 19);
  EXPECT_THAT(test::floats(test::run_one(node, {x, w, offset})), ElementsAre(20, 10, 0, 40));
  Node masked = make_node("DeformConv", 5, {}, 19);
  const Tensor bias = Tensor::of<float>({1}, {1});
  const Tensor mask = Tensor::of<float>({1, 1, 2, 2}, {1, 1, 1, 0.5f});
  EXPECT_THAT(test::floats(test::run_one(masked, {x, w, offset, bias, mask})),
              ElementsAre(21, 11, 1, 21));
}

TEST(DeformConv, RefusesOffsetsOfAnotherShape) {
  const Node node = make_node("DeformConv", 3, {}, 19);
  const Tensor x = noise({1, 2, 4, 4}), w = noise({2, 2, 3, 3});
  EXPECT_THAT(refusal(node, {x, w, noise({1, 18, 4, 4})}), HasSubstr("do not fit together"));
  EXPECT_THAT(refusal(node, {x, noise({2, 1, 3, 3}), noise({1, 18, 2, 2})}),
              HasSubstr("do not fit together"));
  EXPECT_THAT(refusal(node, {noise({1, 2, 4}), w, noise({1, 18, 2, 2})}),
              HasSubstr("cannot have the shape [1,2,4]"));
}

}  // namespace
}  // namespace clvet
