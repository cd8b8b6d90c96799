// Comparisons, logic, Where, Mod, Pow and Cast.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::i64s;
using test::inferred;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

std::vector<int64_t> pair(const char* op, const Tensor& a, const Tensor& b) {
  const Tensor y = test::run_one(make_node(op, 2, {}, 16), {a, b});
  return y.to_i64();
}

TEST(Compare, OrdersFloatsAndNeverANan) {
  const Tensor a = Tensor::of<float>({6}, {1, 2, 0, kNan, kNan, -kInf});
  const Tensor b = Tensor::of<float>({6}, {2, 1, -0.f, kNan, 1, -kInf});
  EXPECT_EQ(pair("Equal", a, b), (std::vector<int64_t>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(pair("Less", a, b), (std::vector<int64_t>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pair("Greater", a, b), (std::vector<int64_t>{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(pair("LessOrEqual", a, b), (std::vector<int64_t>{1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(pair("GreaterOrEqual", a, b), (std::vector<int64_t>{0, 1, 1, 0, 0, 1}));
}

TEST(Compare, IsExactOnIntegersAndKnowsTheirSigns) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(pair("Equal", i64s({odd, odd}), i64s({odd - 1, odd})), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(pair("Greater", i64s({INT64_MAX, INT64_MIN}), i64s({INT64_MIN, INT64_MAX})),
            (std::vector<int64_t>{1, 0}));
  const Tensor high = Tensor::of<uint64_t>({1}, {UINT64_MAX}), one = Tensor::of<uint64_t>({1}, {1});
  EXPECT_EQ(pair("Greater", high, one), (std::vector<int64_t>{1}));
  const Tensor yes = Tensor::scalar(true), no = Tensor::scalar(false);
  EXPECT_EQ(pair("Equal", yes, no), (std::vector<int64_t>{0}));
}

TEST(Compare, BroadcastsAndMakesTruthValues) {
  EXPECT_EQ(inferred(make_node("Less", 2), {noise({2, 1}), noise({3})}), "bool[2,3]");
  EXPECT_EQ(inferred(make_node("Less", 2), {noise({0, 1}), noise({3})}), "bool[0,3]");
  EXPECT_THAT(refusal(make_node("Less", 2), {noise({2}), noise({3})}),
              HasSubstr("cannot be broadcast together"));
  EXPECT_THAT(refusal(make_node("Less", 2), {noise({2}), i64s({3})}), HasSubstr("f32 and i64"));
  const Tensor halves = Tensor::of<float>({2}, {1, 2}).cast(DType::kF16).value();
  EXPECT_EQ(pair("Less", halves, Tensor::scalar(1.5f).cast(DType::kF16).value()),
            (std::vector<int64_t>{1, 0}));
}

TEST(Logic, FollowsItsTruthTables) {
  const Tensor a = Tensor::of<bool>({2, 1}, {false, true}),
               b = Tensor::of<bool>({2}, {false, true});
  EXPECT_EQ(pair("And", a, b), (std::vector<int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(pair("Or", a, b), (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(pair("Xor", a, b), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(test::run_one(make_node("Not", 1), {b}).to_i64(), (std::vector<int64_t>{1, 0}));
  for (const char* op : {"And", "Or", "Xor"}) {
    EXPECT_THAT(refusal(make_node(op, 2), {i64s({1}), i64s({1})}),
                HasSubstr("does not support the type i64"));
  }
}

TEST(IsInfAndIsNan, TellTheSignsApart) {
  const Tensor x = Tensor::of<float>({4}, {kInf, -kInf, kNan, 3e38f});
  const auto run = [&](const char* op, Attributes attributes, const Tensor& of) {
    return test::run_one(make_node(op, 1, std::move(attributes)), {of}).to_i64();
  };
  EXPECT_EQ(run("IsNaN", {}, x), (std::vector<int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(run("IsInf", {}, x), (std::vector<int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(run("IsInf", {{"detect_negative", int64_t{0}}}, x), (std::vector<int64_t>{1, 0, 0, 0}));
  EXPECT_EQ(run("IsInf", {{"detect_positive", int64_t{0}}}, x), (std::vector<int64_t>{0, 1, 0, 0}));
  // As halves, 3e38 is infinite as well.
  EXPECT_EQ(run("IsInf", {}, x.cast(DType::kF16).value()), (std::vector<int64_t>{1, 1, 0, 1}));
}

TEST(Where, ChoosesUnderABroadcastOfAllThree) {
  const Tensor choose = Tensor::of<bool>({2, 1}, {true, false});
  const Node node = make_node("Where", 3);
  EXPECT_EQ(test::run_one(node, {choose, i64s({1, 2}), i64s({8})}).to_i64(),
            (std::vector<int64_t>{1, 2, 8, 8}));
  EXPECT_EQ(inferred(node, {Tensor::scalar(true), noise({2, 1}), noise({3})}), "f32[2,3]");
  for (const DType dtype : {DType::kBool, DType::kF16, DType::kBF16, DType::kF64}) {
    const Tensor one = Tensor::scalar(1.f).cast(dtype).value(),
                 none = Tensor::scalar(0.f).cast(dtype).value();
    const Tensor y = test::run_one(node, {choose, one, none});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.to_f64(), (std::vector<double>{1, 0}));
  }
}

// The value that is not chosen leaves no trace.
TEST(Where, KeepsNansOutOfTheOtherChoice) {
  const Tensor y = test::run_one(make_node("Where", 3), {Tensor::of<bool>({2}, {true, false}),
                                                         Tensor::of<float>({2}, {1, kNan}),
                                                         Tensor::of<float>({2}, {kNan, 2})});
  EXPECT_EQ(test::floats(y), (std::vector<float>{1, 2}));
}

TEST(Where, RefusesWhatDoesNotFit) {
  const Node node = make_node("Where", 3);
  EXPECT_THAT(refusal(node, {noise({1}), noise({1}), noise({1})}),
              HasSubstr("f32 for its input 0"));
  EXPECT_THAT(refusal(node, {Tensor::scalar(true), noise({1}), i64s({1})}),
              HasSubstr("f32 and i64"));
  EXPECT_THAT(refusal(node, {Tensor::of<bool>({2}, {}), noise({3}), noise({1})}),
              HasSubstr("cannot be broadcast together"));
}

TEST(Mod, TakesTheSignOfTheDivisorOrOfTheDividend) {
  const Tensor a = i64s({-4, 7, 5, 4, -7, 8}), b = i64s({2, -3, 8, -2, 3, 5});
  const auto run = [&](int64_t fmod, DType dtype) {
    return test::run_one(make_node("Mod", 2, {{"fmod", fmod}}),
                         {a.cast(dtype).value(), b.cast(dtype).value()})
        .to_i64();
  };
  for (const DType dtype : {DType::kI8, DType::kI32, DType::kI64}) {
    EXPECT_EQ(run(0, dtype), (std::vector<int64_t>{0, -2, 5, 0, 2, 3}));
    EXPECT_EQ(run(1, dtype), (std::vector<int64_t>{0, 1, 5, 0, -1, 3}));
  }
  EXPECT_EQ(run(1, DType::kF32), (std::vector<int64_t>{0, 1, 5, 0, -1, 3}));
}

TEST(Mod, NeverTrapsOnTheExtremes) {
  EXPECT_EQ(pair("Mod", i64s({INT64_MIN, INT64_MIN, INT64_MAX}), i64s({-1, INT64_MAX, INT64_MIN})),
            (std::vector<int64_t>{0, INT64_MAX - 1, -1}));
  const Tensor bytes = Tensor::of<uint8_t>({2}, {255, 7}),
               divisors = Tensor::of<uint8_t>({2}, {16, 0});
  EXPECT_EQ(pair("Mod", bytes, divisors)[0], 15);
}

TEST(Pow, IsExactOnIntegers) {
  EXPECT_EQ(pair("Pow", i64s({3, 3, -3, 2, 10, 0, 1}), i64s({35, 39, 33, 62, 18, 0, INT64_MAX})),
            (std::vector<int64_t>{50031545098999707, 4052555153018976267, -5559060566555523,
                                  int64_t{1} << 62, 1000000000000000000, 1, 1}));
  EXPECT_EQ(pair("Pow", i64s({2, -1, 1, -2}), i64s({-1, -3, -5, -2})),
            (std::vector<int64_t>{0, -1, 1, 0}));
  // Beyond the range the low bits are left, as of every product of integers.
  EXPECT_EQ(pair("Pow", i64s({3, 2}), i64s({41, 64})),
            (std::vector<int64_t>{-420491770248316829, 0}));
}

TEST(Pow, TakesAnExponentOfAnotherType) {
  const Tensor base = Tensor::of<float>({3}, {4, 2, 0});
  EXPECT_EQ(test::floats(test::run_one(make_node("Pow", 2), {base, i64s({3, -1, 0})})),
            (std::vector<float>{64, 0.5f, 1}));
  EXPECT_EQ(test::floats(test::run_one(make_node("Pow", 2), {base, Tensor::scalar(0.5)})),
            (std::vector<float>{2, std::sqrt(2.f), 0}));
  EXPECT_EQ(test::run_one(make_node("Pow", 2), {i64s({9, 2}), Tensor::scalar(0.5f)}).to_i64(),
            (std::vector<int64_t>{3, 1}));
}

TEST(Pow, OfANegativeBaseToAFractionIsNoNumber) {
  const Tensor y = test::run_one(make_node("Pow", 2), {Tensor::scalar(-2.f), Tensor::scalar(0.5f)});
  EXPECT_TRUE(std::isnan(test::floats(y)[0]));
  const Tensor cube =
      test::run_one(make_node("Pow", 2), {Tensor::scalar(-2.f), Tensor::scalar(3.f)});
  EXPECT_EQ(test::floats(cube), (std::vector<float>{-8}));
}

Tensor cast_to(const Tensor& x, int64_t code) {
  return test::run_one(make_node("Cast", 1, {{"to", code}}), {x});
}

TEST(Cast, GoesToEveryTypeByOnnxsNumber) {
  const struct {
    int64_t code;
    const char* type;
  } rows[] = {{1, "f32[1]"},  {2, "u8[1]"},   {3, "i8[1]"},   {4, "u16[1]"},
              {5, "i16[1]"},  {6, "i32[1]"},  {7, "i64[1]"},  {9, "bool[1]"},
              {10, "f16[1]"}, {11, "f64[1]"}, {12, "u32[1]"}, {13, "u64[1]"}};
  for (const auto& row : rows) {
    const Tensor y = cast_to(Tensor::of<float>({1}, {1.75f}), row.code);
    EXPECT_EQ(to_string(y.type()), row.type);
    const bool whole = row.code != 1 && row.code != 10 && row.code != 11;
    EXPECT_EQ(y.to_f64()[0], whole ? 1 : 1.75) << row.type;
  }
}

TEST(Cast, KeepsIntegersThatNoDoubleHolds) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(cast_to(i64s({odd}), 13).data<uint64_t>()[0], static_cast<uint64_t>(odd));
  EXPECT_EQ(cast_to(Tensor::of<uint64_t>({1}, {static_cast<uint64_t>(odd)}), 7).to_i64(),
            (std::vector<int64_t>{odd}));
}

TEST(Cast, TakesTheLowBitsOfIntegersAndTheNearestHalf) {
  EXPECT_EQ(cast_to(i64s({256, 511, -1}), 2).to_i64(), (std::vector<int64_t>{0, 255, 255}));
  EXPECT_EQ(cast_to(i64s({128, -129, 2}), 3).to_i64(), (std::vector<int64_t>{-128, 127, 2}));
  EXPECT_EQ(cast_to(i64s({0, 2, -1, INT64_MIN}), 9).to_i64(), (std::vector<int64_t>{0, 1, 1, 1}));
  // Halves near 2048 are 2 apart: ties go to the even neighbour.
  EXPECT_EQ(cast_to(i64s({2049, 2051, 65519}), 10).to_f64(),
            (std::vector<double>{2048, 2052, 65504}));
  EXPECT_EQ(cast_to(i64s({65520}), 10).to_f64()[0], static_cast<double>(kInf));
}

TEST(Cast, KeepsInfinitiesAndNansBetweenFloats) {
  const Tensor x = Tensor::of<float>({3}, {kInf, -kInf, kNan});
  for (const int64_t code : {10, 11}) {
    const auto y = cast_to(x, code).to_f64();
    EXPECT_EQ(y[0], static_cast<double>(kInf));
    EXPECT_EQ(y[1], -static_cast<double>(kInf));
    EXPECT_TRUE(std::isnan(y[2]));
  }
}

TEST(Cast, RefusesTypesThatItDoesNotKnow) {
  for (const int64_t code : {int64_t{0}, int64_t{8}, int64_t{14}, int64_t{-1}, INT64_MAX}) {
    EXPECT_THAT(refusal(make_node("Cast", 1, {{"to", code}}), {noise({1})}),
                HasSubstr("ONNX type " + std::to_string(code)));
  }
  EXPECT_THAT(refusal(make_node("CastLike", 1), {noise({1})}),
              HasSubstr("CastLike needs its input 1"));
}

TEST(CastLike, TakesTheTypeAloneFromItsSecondInput) {
  const Tensor y = test::run_one(make_node("CastLike", 2, {}, 15),
                                 {Tensor::of<float>({2}, {1.5f, -2}), i64s({})});
  EXPECT_EQ(to_string(y.type()), "i64[2]");
  EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{1, -2}));
}

}  // namespace
}  // namespace clvet
