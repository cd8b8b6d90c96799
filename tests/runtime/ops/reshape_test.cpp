// The ops that give elements another shape or place: Reshape, Flatten, Squeeze, Unsqueeze, Expand,
// Tile, Transpose, Identity; and those that make tensors of shapes: Shape, Size, Range, Constant.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Reshape, FollowsZeroesAndTheOpenAxis) {
  const struct {
    Shape from;
    std::vector<int64_t> to;
    bool allow_zero;
    const char* type;
  } rows[] = {
      {{2, 3, 4}, {4, 6}, false, "f32[4,6]"},
      {{2, 3, 4}, {0, -1}, false, "f32[2,12]"},
      {{2, 3, 4}, {-1}, false, "f32[24]"},
      {{2, 3, 4}, {0, 0, 0, 1}, false, "f32[2,3,4,1]"},
      {{1, 1}, {}, false, "f32[]"},
      {{}, {1, -1, 1}, false, "f32[1,1,1]"},
      {{2, 0, 3}, {0, 0, 3}, false, "f32[2,0,3]"},
      {{2, 0, 3}, {0, 7}, true, "f32[0,7]"},
      {{0, 3}, {3, -1}, false, "f32[3,0]"},
      {{0, 3}, {3, 0}, true, "f32[3,0]"},
  };
  for (const auto& row : rows) {
    const Node node = make_node("Reshape", 2, {{"allowzero", int64_t{row.allow_zero}}}, 14);
    EXPECT_EQ(inferred(node, {noise(row.from), i64s(row.to)}), row.type);
  }
}

TEST(Reshape, RefusesShapesThatHoldAnotherNumber) {
  const struct {
    Shape from;
    std::vector<int64_t> to;
    const char* part;
  } faults[] = {
      {{2, 3}, {4}, "Reshape cannot turn [2,3] into [4]"},
      {{2, 3}, {4, -1}, "Reshape cannot turn [2,3]"},
      {{2, 3}, {-1, -1}, "Reshape's target shape"},
      {{2, 3}, {-2, 3}, "Reshape's target shape"},
      {{2, 3}, {2, 3, 0}, "keeps axis 2, which [2,3]"},
      {{2, 3}, {INT64_MIN, 3}, "Reshape's target shape"},
      {{2, 3}, {INT64_MAX, INT64_MAX}, "Reshape's target shape"},
      // 2^32 * 2^32 is 0 in 64 bits.
      {{0}, {int64_t{1} << 32, int64_t{1} << 32}, "Reshape's target shape"},
      {{0}, {3}, "Reshape cannot turn [0] into [3]"},
      {{}, {}, "(accepted)"},
  };
  for (const auto& fault : faults) {
    EXPECT_THAT(refusal(make_node("Reshape", 2), {noise(fault.from), i64s(fault.to)}),
                HasSubstr(fault.part));
  }
  EXPECT_THAT(refusal(make_node("Reshape", 2), {noise({2}), noise({1})}),
              HasSubstr("f32 for its input 1"));
}

TEST(Reshape, ToMoreAxesThanAViewHoldsIsStillReadInOrder) {
  const std::vector<Tensor> inputs = {noise({2, 3, 4}), i64s({1, 1, 1, 1, 1, 1, 2, 3, 4})};
  const Lowering lowering = test::lowered(make_node("Reshape", 2), inputs, View::kChannelsFirst);
  ASSERT_NE(lowering.kind, LoweringKind::kHost) << lowering.reason;
  const View& view =
      lowering.kind == LoweringKind::kAlias ? lowering.view : lowering.calls.back().view;
  EXPECT_THAT(view.order(9), ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(View, OfMoreAxesThanItHoldsSuitsNothing) {
  EXPECT_THAT(View::of({1, 0, 2, 3, 4, 5, 6, 7, 8}).order(9), IsEmpty());
  EXPECT_EQ(view_of(Shape(9, 2), View::of({1, 0, 2, 3, 4, 5, 6, 7, 8})), std::nullopt);
  EXPECT_THAT(View::of({1, 0, 2, 3, 4, 5, 6, 7}).order(8), ElementsAre(1, 0, 2, 3, 4, 5, 6, 7));
}

TEST(Flatten, MakesAMatrixAtEveryAxis) {
  const auto type = [](const Shape& shape, int64_t axis) {
    return inferred(make_node("Flatten", 1, {{"axis", axis}}), {noise(shape)});
  };
  EXPECT_EQ(type({2, 3, 4}, 0), "f32[1,24]");
  EXPECT_EQ(type({2, 3, 4}, 1), "f32[2,12]");
  EXPECT_EQ(type({2, 3, 4}, 3), "f32[24,1]");
  EXPECT_EQ(type({2, 3, 4}, -1), "f32[6,4]");
  EXPECT_EQ(type({2, 3, 4}, -3), "f32[1,24]");
  EXPECT_EQ(type({}, 0), "f32[1,1]");
  EXPECT_EQ(type({2, 0, 4}, 2), "f32[0,4]");
  for (const int64_t axis : {int64_t{4}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(type({2, 3, 4}, axis), HasSubstr("Flatten cannot split [2,3,4]"));
  }
}

TEST(Squeeze, DropsTheNamedAxesOrAllOfExtentOne) {
  const auto type = [](const Shape& shape, const std::vector<int64_t>& axes) {
    return inferred(make_node("Squeeze", 2), {noise(shape), i64s(axes)});
  };
  EXPECT_EQ(type({1, 3, 1, 2}, {0}), "f32[3,1,2]");
  EXPECT_EQ(type({1, 3, 1, 2}, {-2, 0}), "f32[3,2]");
  EXPECT_EQ(type({1, 1}, {0, 1}), "f32[]");
  EXPECT_THAT(type({1, 3, 1, 2}, {1}), HasSubstr("axis 1 of [1,3,1,2]"));
  EXPECT_THAT(type({1, 0}, {1}), HasSubstr("axis 1 of [1,0]"));
  EXPECT_THAT(type({1, 3}, {0, -2}), HasSubstr("twice"));
  EXPECT_THAT(type({1, 3}, {2}), HasSubstr("axis 2"));
  EXPECT_EQ(inferred(make_node("Squeeze", 1), {noise({1, 3, 1})}), "f32[3]");
  EXPECT_EQ(inferred(make_node("Squeeze", 1, {{"axes", list({2})}}, 11), {noise({1, 3, 1})}),
            "f32[1,3]");
}

TEST(Unsqueeze, CountsItsAxesInTheOutput) {
  const auto type = [](const Shape& shape, const std::vector<int64_t>& axes) {
    return inferred(make_node("Unsqueeze", 2), {noise(shape), i64s(axes)});
  };
  EXPECT_EQ(type({3}, {0, 2}), "f32[1,3,1]");
  EXPECT_EQ(type({3}, {2, 0}), "f32[1,3,1]");
  EXPECT_EQ(type({2, 3}, {-1, -3}), "f32[2,1,3,1]");
  EXPECT_EQ(type({}, {0}), "f32[1]");
  EXPECT_THAT(type({3}, {2}), HasSubstr("axis 2 does not exist in a tensor of rank 2"));
  EXPECT_THAT(type({3}, {0, -3}), HasSubstr("twice"));
  EXPECT_THAT(type({3}, {INT64_MIN}), HasSubstr("axis -9"));
}

TEST(Expand, BroadcastsBothWays) {
  const Tensor x = Tensor::of<int32_t>({3, 1}, {1, 2, 3});
  const Node node = make_node("Expand", 2);
  EXPECT_EQ(test::run_one(node, {x, i64s({2, 1, 2})}).to_i64(),
            (std::vector<int64_t>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(inferred(node, {x, i64s({1, 1})}), "i32[3,1]");
  EXPECT_EQ(inferred(node, {x, i64s({})}), "i32[3,1]");
  EXPECT_EQ(inferred(node, {x, i64s({3, 0})}), "i32[3,0]");
  EXPECT_EQ(test::run_one(node, {x, i64s({3, 0})}).elements(), 0);
  EXPECT_THAT(refusal(node, {x, i64s({2, 2})}), HasSubstr("[3,1] and [2,2]"));
  EXPECT_THAT(refusal(node, {x, i64s({-1})}), HasSubstr("negative extent"));
  EXPECT_THAT(refusal(node, {x, i64s({INT64_MAX, 1, 1})}), HasSubstr("too many elements"));
}

TEST(Tile, RepeatsEachAxis) {
  const Tensor x = noise({2, 3, 2}, 5);
  const Grid grid(x);
  for (const std::vector<int64_t>& repeats :
       std::vector<std::vector<int64_t>>{{1, 1, 1}, {2, 1, 3}, {1, 4, 1}}) {
    Shape out = x.shape();
    for (size_t i = 0; i < 3; ++i) out[i] *= repeats[i];
    const Grid want(out, [&](Index at) {
      for (size_t i = 0; i < 3; ++i) at[i] %= x.shape()[i];
      return grid.at(at);
    });
    test::expect_grid(test::run_one(make_node("Tile", 2), {x, i64s(repeats)}), want, 0);
  }
  EXPECT_EQ(test::run_one(make_node("Tile", 2), {x, i64s({2, 0, 1})}).shape(), (Shape{4, 0, 2}));
  EXPECT_EQ(test::run_one(make_node("Tile", 2), {noise({0, 2}), i64s({3, 2})}).shape(),
            (Shape{0, 4}));
  EXPECT_EQ(test::floats(test::run_one(make_node("Tile", 2), {Tensor::scalar(2.f), i64s({})})),
            (std::vector<float>{2}));
}

TEST(Tile, RefusesRepeatsThatMakeNoSense) {
  for (const std::vector<int64_t>& repeats :
       std::vector<std::vector<int64_t>>{{1}, {1, 1, 1}, {-1, 1}, {INT64_MAX, 1}, {INT64_MIN, 1}}) {
    EXPECT_THAT(refusal(make_node("Tile", 2), {noise({2, 3}), i64s(repeats)}), HasSubstr("Tile"));
  }
  EXPECT_THAT(refusal(make_node("Tile", 2), {noise({2, 3}), i64s({1 << 30, 1 << 30})}),
              HasSubstr("too many"));
}

TEST(Transpose, MovesAxisToAxisForEveryElementSize) {
  for (const DType dtype : {DType::kU8, DType::kF16, DType::kBF16, DType::kF32, DType::kI64}) {
    const Tensor x = test::counting({2, 3, 4}).cast(dtype).value();
    const Grid grid(x);
    for (const std::vector<int64_t>& perm : std::vector<std::vector<int64_t>>{
             {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
      Shape out;
      for (const int64_t axis : perm) out.push_back(x.dim(axis));
      const Grid want(out, [&](const Index& at) {
        Index from(3);
        for (size_t i = 0; i < 3; ++i) from[static_cast<size_t>(perm[i])] = at[i];
        return grid.at(from);
      });
      test::expect_grid(test::run_one(make_node("Transpose", 1, {{"perm", perm}}), {x}), want, 0);
    }
  }
}

TEST(Transpose, TurnsTheAxesRoundByDefaultAndTakesScalars) {
  EXPECT_EQ(inferred(make_node("Transpose", 1), {noise({2, 3, 4})}), "f32[4,3,2]");
  EXPECT_EQ(inferred(make_node("Transpose", 1), {Tensor::scalar(1.f)}), "f32[]");
  EXPECT_EQ(test::run_one(make_node("Transpose", 1), {noise({0, 3})}).shape(), (Shape{3, 0}));
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  for (const std::vector<int64_t>& perm : std::vector<std::vector<int64_t>>{
           {}, {0}, {0, 0}, {1, 2}, {-1, 0}, {0, 1, 2}, {INT64_MIN, INT64_MAX}}) {
    EXPECT_THAT(refusal(make_node("Transpose", 1, {{"perm", perm}}), {noise({2, 3})}),
                HasSubstr("Transpose of [2,3]"));
  }
  EXPECT_THAT(refusal(make_node("Transpose", 1, {{"perm", list({0})}}), {Tensor::scalar(1.f)}),
              HasSubstr("Transpose of []"));
}

TEST(Shape, TakesAStretchAndClampsItsEnds) {
  const auto run = [](int64_t start, int64_t end) {
    const Node node = make_node("Shape", 1, {{"start", start}, {"end", end}}, 15);
    return test::run_one(node, {noise({2, 3, 4})}).to_i64();
  };
  EXPECT_EQ(run(0, 3), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(run(-2, -1), (std::vector<int64_t>{3}));
  EXPECT_EQ(run(INT64_MIN, INT64_MAX), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_THAT(run(2, 1), IsEmpty());
  EXPECT_THAT(run(3, 3), IsEmpty());
  EXPECT_THAT(test::run_one(make_node("Shape", 1), {Tensor::scalar(1.f)}).to_i64(), IsEmpty());
  EXPECT_EQ(test::run_one(make_node("Size", 1), {noise({2, 3, 4})}).to_i64(),
            (std::vector<int64_t>{24}));
  EXPECT_EQ(test::run_one(make_node("Size", 1), {noise({2, 0})}).to_i64(),
            (std::vector<int64_t>{0}));
  EXPECT_EQ(test::run_one(make_node("Size", 1), {Tensor::scalar(1.f)}).to_i64(),
            (std::vector<int64_t>{1}));
}

std::vector<int64_t> range(int64_t start, int64_t limit, int64_t delta) {
  const auto scalar = [](int64_t v) { return Tensor::scalar<int64_t>(v); };
  return test::run_one(make_node("Range", 3), {scalar(start), scalar(limit), scalar(delta)})
      .to_i64();
}

TEST(Range, CountsUpAndDownAndNotAtAll) {
  EXPECT_EQ(range(3, 9, 3), (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(range(10, 4, -2), (std::vector<int64_t>{10, 8, 6}));
  EXPECT_THAT(range(3, 3, 1), IsEmpty());
  EXPECT_THAT(range(0, -5, 1), IsEmpty());
  EXPECT_THAT(range(0, 5, -1), IsEmpty());
  const auto scalar = [](float v) { return Tensor::scalar(v); };
  const Node node = make_node("Range", 3);
  EXPECT_EQ(test::floats(test::run_one(node, {scalar(0), scalar(1), scalar(0.3f)})),
            (std::vector<float>{0, 0.3f, 2 * 0.3f, 3 * 0.3f}));
}

TEST(Range, IsExactAtTheEndsOfInt64) {
  const int64_t big = int64_t{1} << 53;
  EXPECT_EQ(range(big, big + 3, 1), (std::vector<int64_t>{big, big + 1, big + 2}));
  EXPECT_EQ(range(big + 1, big, -1), (std::vector<int64_t>{big + 1}));
  EXPECT_EQ(range(INT64_MAX - 1, INT64_MAX, 5), (std::vector<int64_t>{INT64_MAX - 1}));
  EXPECT_EQ(range(INT64_MIN, INT64_MAX, INT64_MAX),
            (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(range(INT64_MAX, INT64_MIN, INT64_MIN), (std::vector<int64_t>{INT64_MAX, -1}));
}

TEST(Range, RefusesEndlessCountsAndLists) {
  const Node node = make_node("Range", 3);
  const auto why = [&](auto start, auto limit, auto delta) {
    return refusal(node, {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)});
  };
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(why(int64_t{0}, int64_t{1}, int64_t{0}), HasSubstr("in steps of 0"));
  EXPECT_THAT(why(INT64_MIN, INT64_MAX, int64_t{1}), HasSubstr("Range cannot go from"));
  EXPECT_THAT(why(0.f, inf, 1.f), HasSubstr("Range cannot go from"));
  EXPECT_THAT(why(0.f, 1.f, std::nanf("")), HasSubstr("Range cannot go from"));
  EXPECT_THAT(why(0.f, 1.f, 1e-30f), HasSubstr("Range cannot go from"));
  EXPECT_THAT(refusal(node, {i64s({1, 2}), i64s({1}), i64s({1})}), HasSubstr("single numbers"));
  EXPECT_THAT(refusal(node, {i64s({}), i64s({1}), i64s({1})}), HasSubstr("single numbers"));
}

TEST(ConstantOfShape, FillsWithItsValueOfAnyType) {
  const Node zeros = make_node("ConstantOfShape", 1);
  EXPECT_EQ(test::floats(test::run_one(zeros, {i64s({2})})), (std::vector<float>{0, 0}));
  EXPECT_EQ(inferred(zeros, {i64s({})}), "f32[]");
  EXPECT_EQ(inferred(zeros, {i64s({0, 3})}), "f32[0,3]");
  for (const DType dtype : {DType::kBool, DType::kF16, DType::kBF16, DType::kI32, DType::kU64}) {
    const Tensor value = Tensor::of<float>({1}, {1}).cast(dtype).value();
    const Tensor y =
        test::run_one(make_node("ConstantOfShape", 1, {{"value", value}}), {i64s({1, 2})});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.to_f64(), (std::vector<double>{1, 1}));
  }
  EXPECT_THAT(refusal(zeros, {i64s({-1})}), HasSubstr("negative extent -1"));
  EXPECT_THAT(refusal(zeros, {i64s({INT64_MAX, INT64_MAX})}), HasSubstr("too many elements"));
  EXPECT_THAT(refusal(make_node("ConstantOfShape", 1, {{"value", i64s({1, 2})}}), {i64s({1})}),
              HasSubstr("one value, not 2"));
}

TEST(Constant, TakesItsValueFromTheOneAttributeThatItHas) {
  const auto value = [](const char* key, Attribute attribute) {
    return test::run_one(make_node("Constant", 0, {{key, std::move(attribute)}}), {});
  };
  EXPECT_EQ(to_string(value("value_int", INT64_MIN).type()), "i64[]");
  EXPECT_EQ(value("value_int", INT64_MIN).to_i64(), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(test::floats(value("value_float", 0.5)), (std::vector<float>{0.5f}));
  EXPECT_EQ(value("value_ints", list({3, -1})).to_i64(), (std::vector<int64_t>{3, -1}));
  EXPECT_EQ(to_string(value("value_floats", std::vector<double>{}).type()), "f32[0]");
  EXPECT_EQ(to_string(value("value", noise({2, 3})).type()), "f32[2,3]");
  EXPECT_THAT(refusal(make_node("Constant", 0), {}), HasSubstr("without a numeric value"));
}

TEST(Dropout, KeepsEverythingOutsideTraining) {
  Node node = make_node("Dropout", 3, {}, 13, 2);
  const Tensor x = noise({2, 3}), ratio = Tensor::scalar(0.9f);
  const auto outputs = test::run_op(node, {x, ratio, Tensor::scalar(false)});
  ASSERT_TRUE(outputs) << outputs.error().message;
  test::expect_near((*outputs)[0], x, 0);
  EXPECT_THAT((*outputs)[1].to_i64(), ::testing::Each(1));
  EXPECT_THAT(refusal(node, {x, ratio, Tensor::scalar(true)}), HasSubstr("training"));
}

}  // namespace
}  // namespace clvet
