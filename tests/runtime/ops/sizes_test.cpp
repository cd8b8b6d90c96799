// Sizes that a model may ask for, and no machine has.
#include <gmock/gmock.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::make_node;
using test::run_one;

TEST(TooLargeAnOutput, IsRefusedAtOnce) {
  const std::vector<int64_t> huge = {0, int64_t{1} << 38};
  const Tensor x = Tensor::of<float>({1}, {1});
  const std::pair<Node, std::vector<Tensor>> rows[] = {
      {make_node("Pad", 2), {x, test::i64s(huge)}},
      {make_node("Tile", 2), {x, test::i64s({huge[1]})}},
      {make_node("Expand", 2), {x, test::i64s({huge[1]})}},
      {make_node("ConstantOfShape", 1), {test::i64s({huge[1]})}},
      {make_node("Range", 3),
       {Tensor::scalar<int64_t>(0), Tensor::scalar<int64_t>(huge[1]), Tensor::scalar<int64_t>(1)}},
  };
  for (const auto& [node, inputs] : rows) {
    const auto outputs = test::run_op(node, inputs);
    ASSERT_FALSE(outputs) << node.op;
    EXPECT_EQ(outputs.error().code, ErrorCode::kResourceExhausted) << node.op;
    EXPECT_THAT(outputs.error().message, ::testing::HasSubstr("[27487790694")) << node.op;
  }
}

TEST(AnOutputWithoutElements, IsMadeAtOnceHoweverLongItsOtherAxesAre) {
  const int64_t huge = int64_t{1} << 38;
  const Tensor none = Tensor::create(DType::kF32, {1, 0}).value();
  const Tensor y = run_one(make_node("Pad", 2), {none, test::i64s({0, 0, huge, 0})});
  EXPECT_EQ(y.shape(), (Shape{huge + 1, 0}));
  const Tensor both = run_one(make_node("Concat", 2, {{"axis", int64_t{1}}}), {y, y});
  EXPECT_EQ(both.shape(), (Shape{huge + 1, 0}));
}

TEST(ResizeToAnAxisThatIsTooLong, IsRefusedAtOnce) {
  const Tensor x = Tensor::of<float>({1, 1, 1, 1}, {1});
  const auto node = make_node("Resize", 4, {{"mode", test::word("linear")}}, 13);
  const auto sizes = test::i64s({1, 1, int64_t{1} << 24, int64_t{1} << 24});
  const auto outputs =
      test::run_op(node, {x, Tensor::of<float>({0}, {}), Tensor::of<float>({0}, {}), sizes});
  ASSERT_FALSE(outputs);
}

}  // namespace
}  // namespace clvet
