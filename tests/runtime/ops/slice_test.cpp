// Slice, Split and Concat: cutting and joining along axes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::i64s;
using test::Index;
using test::inferred;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

Node slice_node() { return make_node("Slice", 5); }
std::vector<Tensor> bounds(const Tensor& x, const std::vector<int64_t>& starts,
                           const std::vector<int64_t>& ends, const std::vector<int64_t>& axes,
                           const std::vector<int64_t>& steps) {
  return {x, i64s(starts), i64s(ends), i64s(axes), i64s(steps)};
}

// ONNX: negative bounds count from the end, then start is clamped to [0, n] (stepping back:
// [0, n - 1]) and end to [0, n] (stepping back: [-1, n - 1]).
std::vector<int64_t> plain_slice(int64_t n, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += n;
  if (end < 0) end += n;
  std::vector<int64_t> taken;
  start = std::clamp<int64_t>(start, 0, step > 0 ? n : n - 1);
  end = step > 0 ? std::clamp<int64_t>(end, 0, n) : std::clamp<int64_t>(end, -1, n - 1);
  for (int64_t at = start; step > 0 ? at < end : at > end; at += step) taken.push_back(at);
  return taken;
}

TEST(Slice, TakesWhatTheTextSaysForAllSmallBounds) {
  for (const int64_t n : {1, 2, 5}) {
    Tensor x = Tensor::create(DType::kI64, {n}).value();
    for (int64_t i = 0; i < n; ++i) x.data<int64_t>()[i] = i;
    for (int64_t start = -n - 2; start <= n + 2; ++start) {
      for (int64_t end = -n - 2; end <= n + 2; ++end) {
        for (const int64_t step : {-3, -2, -1, 1, 2, 7}) {
          const Tensor y = test::run_one(slice_node(), bounds(x, {start}, {end}, {0}, {step}));
          ASSERT_THAT(y.to_i64(), ElementsAreArray(plain_slice(n, start, end, step)))
              << n << ' ' << start << ' ' << end << ' ' << step;
        }
      }
    }
  }
}

TEST(Slice, CutsSeveralAxesOfEveryElementSize) {
  const Tensor x = test::counting({3, 4, 5});
  const Grid want({2, 4, 2}, [](const Index& at) {
    return static_cast<double>((2 - 2 * at[0]) * 20 + at[1] * 5 + 1 + 3 * at[2]);
  });
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kU8, DType::kF64, DType::kI16}) {
    const Tensor typed = x.cast(dtype).value();
    const Tensor y = test::run_one(
        slice_node(), bounds(typed, {1, -1}, {INT64_MAX, INT64_MIN}, {-1, 0}, {3, -2}));
    EXPECT_EQ(y.dtype(), dtype);
    test::expect_grid(y, want, 0);
  }
}

TEST(Slice, TakesItsBoundsFromAttributesInOldModels) {
  const Node node = make_node(
      "Slice", 1, {{"starts", list({1, 0})}, {"ends", list({3, -1})}, {"axes", list({1, 0})}}, 9);
  EXPECT_EQ(test::floats(test::run_one(node, {test::counting({3, 4})})),
            (std::vector<float>{1, 2, 5, 6}));
}

// So many elements that several threads take parts, also of rows; one axis goes backwards.
TEST(Slice, CutsInPartsWhatIsLarge) {
  const Tensor x = test::counting({6, 80, 300});
  const Tensor y = test::run_one(
      make_node("Slice", 5),
      {x, test::i64s({0, 79}), test::i64s({6, -100}), test::i64s({0, 1}), test::i64s({1, -1})});
  ASSERT_EQ(y.shape(), (Shape{6, 80, 300}));
  size_t wrong = 0;
  for (int64_t i = 0; i < y.elements(); ++i) {
    const int64_t plane = i / 24000, row = i / 300 % 80, column = i % 300;
    wrong += y.data<float>()[i] != static_cast<float>(plane * 24000 + (79 - row) * 300 + column);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Slice, OfAnEmptyAxisIsEmpty) {
  for (const int64_t step : {1, -1, 5}) {
    EXPECT_EQ(test::run_one(slice_node(), bounds(noise({0, 3}), {5}, {-9}, {0}, {step})).shape(),
              (Shape{0, 3}));
  }
}

TEST(Slice, RefusesListsThatDoNotFit) {
  const Tensor x = noise({3, 4});
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0}, {1, 2}, {0}, {1})), HasSubstr("1, 2, 1 and 1"));
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0}, {1}, {0, 1}, {1})), HasSubstr("1, 1, 2 and 1"));
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0}, {1}, {0}, {1, 1})), HasSubstr("1, 1, 1 and 2"));
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0}, {1}, {2}, {1})), HasSubstr("axis 2"));
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0}, {1}, {INT64_MIN}, {1})), HasSubstr("axis -92"));
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0}, {1}, {0}, {0})),
              HasSubstr("step must not be 0"));
  EXPECT_THAT(refusal(slice_node(), bounds(x, {0, 0, 0}, {1, 1, 1}, {}, {})), HasSubstr("axis 2"));
  EXPECT_THAT(refusal(make_node("Slice", 3), {x, noise({1}), i64s({1})}), HasSubstr("input 1"));
}

TEST(Slice, WaitsForBoundsThatAreNotKnownYet) {
  const std::vector<Tensor> inputs = bounds(noise({3}), {0}, {1}, {0}, {1});
  const auto types =
      infer_node(test::make_call(slice_node(), inputs, {false, true, false, true, true}));
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(types.error().message, HasSubstr("input 2"));
}

std::vector<Shape> split_shapes(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<Shape> shapes;
  const auto outputs = test::run_op(node, inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  if (outputs)
    for (const Tensor& tensor : *outputs) shapes.push_back(tensor.shape());
  return shapes;
}

TEST(Split, GivesTheLastPartWhatIsLeft) {
  const Node three =
      make_node("Split", 1, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}}, 18, 3);
  EXPECT_THAT(split_shapes(three, {noise({2, 7})}),
              ElementsAre(Shape{2, 3}, Shape{2, 3}, Shape{2, 1}));
  EXPECT_THAT(split_shapes(three, {noise({2, 6})}),
              ElementsAre(Shape{2, 2}, Shape{2, 2}, Shape{2, 2}));
  EXPECT_THAT(split_shapes(three, {noise({2, 0})}),
              ElementsAre(Shape{2, 0}, Shape{2, 0}, Shape{2, 0}));
}

TEST(Split, CutsByTheInputOrTheAttribute) {
  const Tensor x = test::counting({2, 4});
  const Node by_input = make_node("Split", 2, {{"axis", int64_t{1}}}, 13, 3);
  const Node by_attribute =
      make_node("Split", 1, {{"axis", int64_t{1}}, {"split", list({1, 0, 3})}}, 11, 3);
  for (const auto& outputs :
       {test::run_op(by_input, {x, i64s({1, 0, 3})}), test::run_op(by_attribute, {x})}) {
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(test::floats((*outputs)[0]), (std::vector<float>{0, 4}));
    EXPECT_EQ((*outputs)[1].shape(), (Shape{2, 0}));
    EXPECT_EQ(test::floats((*outputs)[2]), (std::vector<float>{1, 2, 3, 5, 6, 7}));
  }
}

TEST(Split, RefusesPartsThatDoNotMakeUpTheAxis) {
  const Node node = make_node("Split", 2, {}, 13, 2);
  for (const std::vector<int64_t>& parts : std::vector<std::vector<int64_t>>{{1, 2},
                                                                             {3, 2},
                                                                             {4},
                                                                             {1, 1, 2},
                                                                             {5, -1},
                                                                             {-1, 5},
                                                                             {INT64_MAX, INT64_MAX},
                                                                             {INT64_MIN, 4},
                                                                             {}}) {
    EXPECT_THAT(refusal(node, {noise({4, 2}), i64s(parts)}), HasSubstr("Split cannot cut [4,2]"));
  }
  EXPECT_THAT(refusal(make_node("Split", 1, {{"axis", int64_t{2}}}, 13, 2), {noise({4, 2})}),
              HasSubstr("axis 2"));
  EXPECT_THAT(refusal(make_node("Split", 1, {}, 13, 2), {Tensor::scalar(1.f)}),
              HasSubstr("rank 0"));
}

TEST(Split, LowersOnlyThePartsThatAreWanted) {
  Node node = make_node("Split", 1, {{"axis", int64_t{1}}}, 13, 3);
  node.outputs[1] = kNoValue;
  const Lowering lowering = test::lowered(node, {noise({2, 9, 4})});
  ASSERT_EQ(lowering.calls.size(), 2u) << lowering.reason;
  EXPECT_EQ(lowering.calls[0].output, 0);
  EXPECT_EQ(lowering.calls[1].output, 2);
  // Channels first: the third part begins 6 channels on.
  EXPECT_EQ(lowering.calls[1].dims.at("channel0"), 6);
  EXPECT_EQ(lowering.calls[1].dims.at("OC"), 3);
}

TEST(Concat, JoinsAlongAnyAxis) {
  for (const int64_t axis : {0, 1, 2, -1, -3}) {
    const auto along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    std::vector<Tensor> parts;
    Shape out = {2, 3, 4};
    out[along] = 0;
    for (const int64_t length : {3, 0, 1}) {
      Shape shape = {2, 3, 4};
      shape[along] = length;
      out[along] += length;
      parts.push_back(noise(shape, static_cast<uint32_t>(length + 5)));
    }
    const Grid first(parts[0]), last(parts[2]);
    const Grid want(out, [&](Index at) {
      if (at[along] < 3) return first.at(at);
      at[along] -= 3;
      return last.at(at);
    });
    test::expect_grid(test::run_one(make_node("Concat", 3, {{"axis", axis}}), parts), want, 0);
  }
}

TEST(Concat, MovesEveryElementSize) {
  for (const DType dtype : {DType::kBool, DType::kF16, DType::kBF16, DType::kU32, DType::kI64}) {
    const Tensor a = Tensor::of<float>({1, 2}, {0, 1}).cast(dtype).value();
    const Tensor y = test::run_one(make_node("Concat", 2, {{"axis", int64_t{0}}}), {a, a});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{0, 1, 0, 1}));
  }
}

TEST(Concat, RefusesPartsThatDoNotFit) {
  const auto why = [](int64_t axis, const std::vector<Tensor>& parts) {
    return refusal(make_node("Concat", parts.size(), {{"axis", axis}}), parts);
  };
  EXPECT_THAT(why(0, {noise({2, 3}), noise({2, 4})}),
              HasSubstr("Concat cannot join [2,3] and [2,4]"));
  EXPECT_THAT(why(0, {noise({2, 3}), noise({2})}), HasSubstr("Concat cannot join [2,3] and [2]"));
  EXPECT_THAT(why(2, {noise({2, 3}), noise({2, 3})}), HasSubstr("axis 2"));
  EXPECT_THAT(why(0, {Tensor::scalar(1.f), Tensor::scalar(1.f)}), HasSubstr("rank 0"));
  EXPECT_THAT(why(0, {noise({2}), i64s({2})}), HasSubstr("f32 and i64"));
  EXPECT_THAT(why(0, {}), HasSubstr("needs its input 0"));
}

TEST(Concat, InfersAnEmptyTensorAndRefusesOneBeyondAll) {
  const Node node = make_node("Concat", 2, {{"axis", int64_t{1}}});
  EXPECT_EQ(inferred(node, {noise({0, 2}), noise({0, 3})}), "f32[0,5]");
  const Tensor huge = Tensor::wrap(DType::kF32, {1, int64_t{1} << 40}, nullptr);
  EXPECT_THAT(inferred(node, {huge, huge}), HasSubstr("too many elements"));
}

TEST(Concat, LowersManyInputsToAChainOfCalls) {
  const std::vector<Tensor> parts(6, noise({1, 2, 3, 4}));
  const Lowering lowering =
      lower_node(test::make_call(make_node("Concat", 6, {{"axis", int64_t{1}}}), parts,
                                 std::vector<bool>(6, false)),
                 View::kChannelsFirst);
  ASSERT_EQ(lowering.calls.size(), 2u) << lowering.reason;
  EXPECT_EQ(lowering.calls[0].output, kTemporary);
  EXPECT_EQ(lowering.calls[0].dims.at("C"), 8);
  EXPECT_EQ(lowering.calls[1].dims.at("P1"), 8);
  EXPECT_EQ(lowering.calls[1].dims.at("C"), 12);
  EXPECT_EQ(lowering.calls[1].dims.at("P4"), 0);
  EXPECT_EQ(lowering.calls[1].inputs[0].input, -1);
}

}  // namespace
}  // namespace clvet
