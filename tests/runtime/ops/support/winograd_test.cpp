#include "runtime/ops/support/winograd.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::list;
using test::noise;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// The ops of what may take the place of a convolution of one image of 9 x 8.
std::vector<std::vector<std::string>> other_ops(const Attributes& attributes,
                                                const Shape& weights) {
  const int64_t group = attributes.contains("group") ? 2 : 1;
  const Node node = test::make_node("Conv", 2, attributes);
  std::vector<std::vector<std::string>> ways;
  const Lowering lowering =
      test::lowered(node, {noise({1, weights[1] * group, 9, 8}), noise(weights)});
  for (const OtherCalls& other : lowering.others) {
    ways.emplace_back();
    for (const LoweredCall& call : other.calls) ways.back().push_back(call.op);
  }
  return ways;
}

TEST(WinogradCalls, AreOneOrATransformThenProductsThenATransform) {
  EXPECT_THAT(other_ops({}, {5, 32, 3, 3}),
              ElementsAre(ElementsAre("winograd"),
                          ElementsAre("winograd_in", "gemm_batch", "winograd_out")));
}

TEST(WinogradCalls, AreThereForPlainWindowsOfThreeByThreeAlone) {
  EXPECT_THAT(other_ops({}, {4, 64, 3, 3}), SizeIs(2));
  EXPECT_THAT(other_ops({{"pads", list({0, 1, 2, 0})}}, {4, 64, 3, 3}), SizeIs(2));
  EXPECT_THAT(other_ops({}, {4, 64, 3, 1}), ElementsAre());
  EXPECT_THAT(other_ops({}, {4, 64, 5, 3}), ElementsAre());
  EXPECT_THAT(other_ops({{"strides", list({1, 2})}}, {4, 64, 3, 3}), ElementsAre());
  EXPECT_THAT(other_ops({{"dilations", list({2, 1})}}, {4, 64, 3, 3}), ElementsAre());
  EXPECT_THAT(other_ops({{"group", int64_t{2}}}, {4, 64, 3, 3}), ElementsAre());
}

TEST(WinogradCalls, NeedEnoughChannelsForTheirBound) {
  EXPECT_THAT(other_ops({}, {64, 31, 3, 3}), ElementsAre());
}

TEST(WinogradCalls, FitTogether) {
  const Node node = test::make_node("Conv", 2, {{"pads", list({1, 1, 1, 1})}});
  const auto ways = test::lowered(node, {noise({2, 40, 5, 7}), noise({6, 40, 3, 3})}).others;
  ASSERT_THAT(ways, ElementsAre(testing::Field(&OtherCalls::calls, SizeIs(1)),
                                testing::Field(&OtherCalls::calls, SizeIs(3))));
  const std::vector<LoweredCall>& calls = ways[1].calls;
  for (size_t i = 1; i < calls.size(); ++i) {
    const auto before = find_op_contract(calls[i - 1].op)->roles(calls[i - 1].dims);
    const auto after = find_op_contract(calls[i].op)->roles(calls[i].dims);
    ASSERT_TRUE(before && after);
    const TensorRole &made = before->back(), &taken = after->front();
    EXPECT_EQ(std::tuple(made.n, made.h, made.w, made.c),
              std::tuple(taken.n, taken.h, taken.w, taken.c));
  }
}

TEST(WinogradWeights, AreEachFilterBetweenTheMatrixAndItsTransposed) {
  // Of one channel and one filter: 1 in the middle, then 1 everywhere.
  EXPECT_THAT(winograd_weights({0, 0, 0, 0, 1, 0, 0, 0, 0}),
              ElementsAre(0, 0, 0, 0, 0, 0.25, -0.25, 0, 0, -0.25, 0.25, 0, 0, 0, 0, 0));
  EXPECT_THAT(winograd_weights(Values(9, 1)), ElementsAre(1, 1.5, 0.5, 1, 1.5, 2.25, 0.75, 1.5, 0.5,
                                                          0.75, 0.25, 0.5, 1, 1.5, 0.5, 1));
}

}  // namespace
}  // namespace clvet
