// Operators that order, select and move elements: what the random comparison with onnxruntime
// (tests/cli/random_operators.py) does not draw. Odd numbers, other outputs, and what is refused.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::counting;
using test::floats;
using test::i64s;
using test::make_node;
using test::noise;
using test::refusal;
using test::run_one;
using test::word;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(ArgMax, AnswersWithTheFirstNanAndTheIndexAskedFor) {
  const Tensor x = Tensor::of<float>({4}, {1, kNan, 3, kNan});
  EXPECT_THAT(run_one(make_node("ArgMax", 1), {x}).to_i64(), ElementsAre(1));
  EXPECT_THAT(run_one(make_node("ArgMin", 1), {x}).to_i64(), ElementsAre(1));
  const Tensor twice = Tensor::of<uint8_t>({3}, {7, 2, 7});
  EXPECT_THAT(
      run_one(make_node("ArgMax", 1, {{"select_last_index", int64_t{1}}}), {twice}).to_i64(),
      ElementsAre(2));
  EXPECT_THAT(refusal(make_node("ArgMax", 1, {{"axis", int64_t{1}}}), {x}), HasSubstr("axis"));
  EXPECT_THAT(refusal(make_node("ArgMax", 1), {Tensor::of<float>({0}, {})}),
              HasSubstr("cannot have the shape [0]"));
}

TEST(TopK, PutsTheLowerIndexOfEqualValuesFirst) {
  const auto made = test::run_op(make_node("TopK", 2, {}, 11, 2),
                                 {Tensor::of<int32_t>({4}, {5, 9, 5, 9}), i64s({3})});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT((*made)[0].to_i64(), ElementsAre(9, 9, 5));
  EXPECT_THAT((*made)[1].to_i64(), ElementsAre(1, 3, 0));
}

TEST(TopK, RefusesMoreThanThereAre) {
  for (const int64_t k : {int64_t{5}, int64_t{-1}, kLeast}) {
    EXPECT_THAT(refusal(make_node("TopK", 2), {counting({4}), i64s({k})}), HasSubstr("cannot be"));
  }
  EXPECT_THAT(refusal(make_node("TopK", 1), {counting({4})}), HasSubstr("attribute k"));
  EXPECT_THAT(refusal(make_node("TopK", 2), {counting({4}), i64s({1, 2})}),
              HasSubstr("cannot have the shape [2]"));
}

TEST(Unique, NamesTheFirstPlaceTheGroupAndTheCount) {
  const auto made = test::run_op(make_node("Unique", 1, {{"sorted", int64_t{0}}}, 11, 4),
                                 {Tensor::of<float>({5}, {2, 1, 1, 3, 2})});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(floats((*made)[0]), ElementsAre(2, 1, 3));
  EXPECT_THAT((*made)[1].to_i64(), ElementsAre(0, 1, 3));
  EXPECT_THAT((*made)[2].to_i64(), ElementsAre(0, 1, 1, 2, 0));
  EXPECT_THAT((*made)[3].to_i64(), ElementsAre(2, 2, 1));
}

TEST(Compress, RefusesMoreConditionsThanElements) {
  EXPECT_THAT(
      refusal(make_node("Compress", 2), {counting({2}), Tensor::of<bool>({3}, {true, true, true})}),
      HasSubstr("do not fit"));
}

TEST(OneHot, LeavesARowWithoutOneForAnIndexOutside) {
  const Tensor y = run_one(make_node("OneHot", 3),
                           {i64s({-1, 3, kLeast}), i64s({2}), Tensor::of<int8_t>({2}, {7, 9})});
  EXPECT_THAT(y.to_i64(), ElementsAre(7, 9, 7, 7, 7, 7));
  EXPECT_THAT(refusal(make_node("OneHot", 3), {i64s({0}), i64s({-2}), counting({2})}),
              HasSubstr("cannot be -2"));
  EXPECT_FALSE(
      test::run_op(make_node("OneHot", 3), {i64s({0}), i64s({int64_t{1} << 45}), counting({2})}));
}

TEST(DepthToSpace, RefusesBlocksThatDoNotDivideItsInput) {
  for (const int64_t block : {int64_t{0}, int64_t{-1}, int64_t{3}, int64_t{1} << 33, kLeast}) {
    EXPECT_THAT(
        refusal(make_node("DepthToSpace", 1, {{"blocksize", block}}), {noise({1, 4, 2, 2})}),
        HasSubstr("blocksize"));
    EXPECT_THAT(
        refusal(make_node("SpaceToDepth", 1, {{"blocksize", block}}), {noise({1, 4, 2, 2})}),
        HasSubstr("blocksize"));
  }
}

TEST(Trilu, TakesAnyDiagonal) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(floats(run_one(make_node("Trilu", 2), {x, i64s({kLeast})})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(floats(run_one(make_node("Trilu", 2, {{"upper", int64_t{0}}}), {x, i64s({kLeast})})),
              ElementsAre(0, 0, 0, 0));
}

TEST(EyeLike, TakesAnyDiagonal) {
  EXPECT_THAT(run_one(make_node("EyeLike", 1, {{"k", kLeast}}), {counting({2, 2})}).to_i64(),
              ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(run_one(make_node("EyeLike", 1, {{"dtype", int64_t{6}}}), {counting({2, 2})}).dtype(),
            DType::kI32);
}

TEST(BitShift, LeavesNothingOfBitsThatLeave) {
  const Tensor x = Tensor::of<uint8_t>({3}, {0x81, 0x81, 0x81}),
               by = Tensor::of<uint8_t>({3}, {1, 8, 255});
  EXPECT_THAT(run_one(make_node("BitShift", 2, {{"direction", word("LEFT")}}), {x, by}).to_i64(),
              ElementsAre(2, 0, 0));
  EXPECT_THAT(refusal(make_node("BitShift", 2), {x, by}), HasSubstr("direction"));
}

TEST(ReverseSequence, RefusesLengthsBeyondItsSteps) {
  const Tensor x = counting({2, 3});
  EXPECT_THAT(refusal(make_node("ReverseSequence", 2), {x, i64s({1, 3, 0})}),
              HasSubstr("out of range"));
  EXPECT_THAT(
      refusal(make_node("ReverseSequence", 2, {{"batch_axis", int64_t{2}}}), {x, i64s({1, 2, 0})}),
      HasSubstr("batch_axis"));
}

TEST(CumSum, RefusesAnAxisThatIsNotThere) {
  EXPECT_THAT(refusal(make_node("CumSum", 2), {counting({2}), i64s({1})}), HasSubstr("axis"));
}

TEST(Windows, RefuseANegativeSize) {
  EXPECT_THAT(refusal(make_node("HannWindow", 1), {i64s({-1})}), HasSubstr("cannot be -1"));
}

}  // namespace
}  // namespace clvet
