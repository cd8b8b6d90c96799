#include "runtime/graph/tensor.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Shape, CountsItsElements) {
  const std::pair<Shape, int64_t> rows[] = {
      {{}, 1}, {{0}, 0}, {{7}, 7}, {{2, 3, 4}, 24}, {{5, 0, 9}, 0}, {{int64_t{1} << 40}, 1LL << 40},
  };
  for (const auto& [shape, count] : rows) {
    EXPECT_EQ(checked_elements(shape).value(), count) << to_string(shape);
    EXPECT_EQ(elements_of(shape), count) << to_string(shape);
  }
}

TEST(Shape, RefusesNegativeExtentsAndProductsThatOverflow) {
  const std::pair<Shape, const char*> rows[] = {
      {{-1}, "negative extent -1"},
      {{0, -3}, "negative extent -3"},
      {{3, std::numeric_limits<int64_t>::min()}, "negative extent"},
      {{kMost, 2}, "too many elements"},
      {{int64_t{1} << 32, int64_t{1} << 32}, "too many elements"},
      {{(int64_t{1} << 40) + 1}, "too many elements"},
      {{int64_t{1} << 21, int64_t{1} << 21}, "too many elements"},
  };
  for (const auto& [shape, part] : rows) {
    const auto count = checked_elements(shape);
    ASSERT_FALSE(count) << to_string(shape);
    EXPECT_EQ(count.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(count.error().message, HasSubstr(part));
  }
}

// Loops multiply the extents on one side of an axis: these must be sound without the zero, too.
TEST(Shape, RefusesAnEmptyShapeWhoseOtherExtentsOverflow) {
  for (const Shape& shape : {Shape{kMost, kMost, 0}, Shape{0, int64_t{1} << 62, 4},
                             Shape{int64_t{1} << 33, 0, int64_t{1} << 33}}) {
    EXPECT_FALSE(checked_elements(shape)) << to_string(shape);
    EXPECT_FALSE(Tensor::create(DType::kF32, shape)) << to_string(shape);
  }
  EXPECT_TRUE(Tensor::create(DType::kF32, {0, int64_t{1} << 41}));
}

TEST(Tensor, BeginsAsZerosAndWithoutStorageWhereItIsDefault) {
  const Tensor made = Tensor::create(DType::kI16, {2, 2}).value();
  EXPECT_THAT(made.to_i64(), Each(0));
  EXPECT_EQ(made.bytes(), 8u);
  const Tensor none;
  EXPECT_EQ(none.elements(), 0);
  EXPECT_EQ(to_string(none.type()), "f32[0]");
}

TEST(Tensor, SaysThatThereIsNoMemoryInPlaceOfDying) {
  const auto tensor = Tensor::create(DType::kF64, {int64_t{1} << 39});
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(tensor.error().message, HasSubstr("f64[549755813888]"));
}

TEST(Tensor, SharesItsStorageWithCopiesAndOtherShapes) {
  const Tensor tensor = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor other = tensor.reshaped({3, 2});
  EXPECT_EQ(other.raw(), tensor.raw());
  EXPECT_EQ(other.dim(0), 3);
  EXPECT_EQ(tensor.cast(DType::kF32)->raw(), tensor.raw());
}

TEST(Tensor, OfTooFewValuesReadsZerosAndOfTooManyTheFirst) {
  EXPECT_EQ(test::floats(Tensor::of<float>({3}, {1})), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(test::floats(Tensor::of<float>({1}, {1, 2})), (std::vector<float>{1}));
}

TEST(DTypes, HaveTheSizesAndNamesOfTheirTypes) {
  const std::pair<size_t, const char*> rows[kDTypeCount] = {
      {4, "f32"}, {8, "f64"}, {2, "f16"}, {1, "i8"},  {2, "i16"},  {4, "i32"},  {8, "i64"},
      {1, "u8"},  {2, "u16"}, {4, "u32"}, {8, "u64"}, {1, "bool"}, {2, "bf16"},
  };
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(size_of(static_cast<DType>(i)), rows[i].first);
    EXPECT_STREQ(to_string(static_cast<DType>(i)), rows[i].second);
  }
}

// Numbers of TensorProto.DataType in onnx.proto.
TEST(DTypes, HaveTheNumbersThatOnnxGivesThem) {
  const std::optional<DType> rows[] = {
      std::nullopt, DType::kF32, DType::kU8,   DType::kI8,   DType::kU16,  DType::kI16,
      DType::kI32,  DType::kI64, std::nullopt, DType::kBool, DType::kF16,  DType::kF64,
      DType::kU32,  DType::kU64, std::nullopt, std::nullopt, DType::kBF16,
  };
  for (size_t code = 0; code < std::size(rows); ++code) {
    EXPECT_EQ(dtype_of_onnx(static_cast<int64_t>(code)), rows[code]) << code;
  }
  for (const int64_t code : {int64_t{-1}, kMost, int64_t{17}, int64_t{1} << 32 | 1}) {
    EXPECT_EQ(dtype_of_onnx(code), std::nullopt) << code;
  }
}

template <class From>
std::vector<int64_t> cast_to(DType to, std::initializer_list<From> values) {
  return Tensor::of<From>({static_cast<int64_t>(values.size())}, values).cast(to)->to_i64();
}

TEST(Cast, TruncatesFloatsTowardZero) {
  EXPECT_THAT(cast_to<float>(DType::kI32, {1.9f, -1.9f, -0.5f, -2147483648.f}),
              ElementsAre(1, -1, 0, INT32_MIN));
  EXPECT_THAT(cast_to<double>(DType::kU8, {255.9, 254.999, -0.9}), ElementsAre(255, 254, 0));
  EXPECT_THAT(cast_to<double>(DType::kI8, {-128.9, 127.5}), ElementsAre(-128, 127));
  EXPECT_THAT(cast_to<double>(DType::kI64, {-9223372036854775808.0, 4503599627370497.0}),
              ElementsAre(INT64_MIN, 4503599627370497));
  EXPECT_THAT(cast_to<double>(DType::kU32, {4294967295.5}), ElementsAre(UINT32_MAX));
  EXPECT_EQ(cast_to<double>(DType::kU64, {9.3e18})[0], static_cast<int64_t>(9300000000000000000u));
}

// As onnxruntime and numpy do on x86.
TEST(Cast, KeepsTheLowBitsOfFloatsThatAnIntegerCannotHold) {
  EXPECT_THAT(cast_to<float>(DType::kU8, {-1, -129, 300, 256, 70000}),
              ElementsAre(255, 127, 44, 0, 112));
  EXPECT_THAT(cast_to<float>(DType::kI8, {128, 200, -129}), ElementsAre(-128, -56, 127));
  EXPECT_THAT(cast_to<float>(DType::kU16, {-1.5, 70000}), ElementsAre(65535, 4464));
  EXPECT_THAT(cast_to<float>(DType::kI16, {40000}), ElementsAre(-25536));
  EXPECT_THAT(cast_to<float>(DType::kU32, {-1, -300}), ElementsAre(UINT32_MAX, UINT32_MAX - 299));
  EXPECT_THAT(cast_to<float>(DType::kU64, {-1, -3e9f}), ElementsAre(-1, -3000000000));
}

TEST(Cast, TakesOtherFloatsForTheLeastIntegerOrZero) {
  for (const double value : {1e30, -1e30, kInf, -kInf, std::nan("")}) {
    EXPECT_THAT(cast_to<double>(DType::kI32, {value}), ElementsAre(INT32_MIN)) << value;
    EXPECT_THAT(cast_to<double>(DType::kI64, {value}), ElementsAre(INT64_MIN)) << value;
    for (const DType type :
         {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kU32, DType::kU64}) {
      EXPECT_THAT(cast_to<double>(type, {value}), ElementsAre(0)) << to_string(type) << value;
    }
  }
  EXPECT_THAT(cast_to<float>(DType::kI32, {2147483648.f, 3e9f}), ElementsAre(INT32_MIN, INT32_MIN));
}

TEST(Cast, TakesEachFloatButZeroForTrue) {
  EXPECT_THAT(cast_to<double>(DType::kBool, {0.3, -0.0, 0, std::nan(""), 1e-300, -kInf}),
              ElementsAre(1, 0, 0, 1, 1, 1));
}

TEST(Cast, GivesInfinityForWhatIsBeyondAHalf) {
  const Tensor half =
      Tensor::of<double>({4}, {65519, 65520, -1e300, 6e-8}).cast(DType::kF16).value();
  EXPECT_THAT(half.to_f64(), ElementsAre(65504, kInf, -kInf, 0x1p-24));
  EXPECT_EQ(Tensor::of<int64_t>({1}, {INT64_MAX}).cast(DType::kF16)->to_f64()[0], kInf);
}

TEST(Cast, RoundsToTheNearestBfloatOnce) {
  // 1 + 2^-8 is a tie and goes to the even 1; a little more, which a float does not hold, is above.
  const double tie = 1 + 0x1p-8, above = tie + 0x1p-40;
  const Tensor y = Tensor::of<double>({6}, {tie, above, 3.14159, 3.39e38, 3.4e38, -1e300})
                       .cast(DType::kBF16)
                       .value();
  EXPECT_THAT(y.to_f64(), ElementsAre(1, 1 + 0x1p-7, 3.140625, 0x1.fep127, kInf, -kInf));
  EXPECT_TRUE(std::isnan(Tensor::scalar(std::nanf("")).cast(DType::kBF16)->to_f64()[0]));
  const Tensor back = Tensor::of<Bfloat>({3}, {{0x3f80}, {0xc000}, {0x0001}});
  EXPECT_THAT(back.cast(DType::kF32)->to_f64(), ElementsAre(1, -2, 0x1p-133));
  EXPECT_THAT(back.cast(DType::kI8)->to_i64(), ElementsAre(1, -2, 0));
  EXPECT_THAT(Tensor::of<int64_t>({3}, {257, 259, -3}).cast(DType::kBF16)->to_i64(),
              ElementsAre(256, 260, -3));
}

TEST(Cast, BetweenTheFloatsOf16BitsKeepsWhatBothHold) {
  const Tensor halves = Tensor::of<float>({3}, {1.5f, 65504, 0x1p-24f}).cast(DType::kF16).value();
  EXPECT_THAT(halves.cast(DType::kBF16)->to_f64(), ElementsAre(1.5, 65536, 0x1p-24));
  const Tensor bfloats = Tensor::of<float>({2}, {-2, 1e5f}).cast(DType::kBF16).value();
  EXPECT_THAT(bfloats.cast(DType::kF16)->to_f64(), ElementsAre(-2, kInf));
  EXPECT_THAT(bfloats.cast(DType::kBool)->to_i64(), ElementsAre(1, 1));
}

TEST(TooLargeATensor, IsRefusedAtOnceWithItsSize) {
  for (const int power : {37, 39, 40}) {
    const auto tensor = Tensor::create(DType::kF32, {int64_t{1} << power});
    ASSERT_FALSE(tensor) << power;
    EXPECT_EQ(tensor.error().code, ErrorCode::kResourceExhausted);
    EXPECT_THAT(tensor.error().message, testing::HasSubstr(std::to_string(int64_t{4} << power)));
  }
}

// More than is free and less than there is: the system would promise it, and end a process later.
TEST(TooLargeATensor, IsRefusedThoughTheSystemWouldPromiseIt) {
  const auto all = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t bytes = (memory_available() + all) / 2;
  const auto tensor = Tensor::create(DType::kU8, {static_cast<int64_t>(bytes)});
  ASSERT_FALSE(tensor) << bytes << " bytes of " << all;
  EXPECT_EQ(tensor.error().code, ErrorCode::kResourceExhausted);
}

// ONNX: integers wrap where the target is narrower, as in C.
TEST(Cast, KeepsTheLowBitsOfIntegers) {
  EXPECT_THAT(cast_to<int32_t>(DType::kI8, {300, -129, 127}), ElementsAre(44, 127, 127));
  EXPECT_THAT(cast_to<int64_t>(DType::kU32, {-1, int64_t{1} << 32}), ElementsAre(UINT32_MAX, 0));
  EXPECT_THAT(cast_to<uint8_t>(DType::kI8, {200}), ElementsAre(-56));
}

TEST(Cast, TakesEverythingButZeroForTrue) {
  EXPECT_THAT(cast_to<float>(DType::kBool, {0.f, -0.f, 1e-45f, NAN, -2.f}),
              ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(cast_to<int64_t>(DType::kBool, {0, 256, int64_t{1} << 32}), ElementsAre(0, 1, 1));
}

TEST(Cast, RoundsToTheNearestHalfOnce) {
  // 1 + 2^-11 is a tie and goes to the even 1; a little more must not be rounded twice.
  const double tie = 1 + std::ldexp(1.0, -11), above = tie + std::ldexp(1.0, -40);
  const Tensor halves =
      Tensor::of<double>({5}, {tie, above, 65519.999, 65520, 1e9}).cast(DType::kF16).value();
  EXPECT_EQ(halves.to_f64(), (std::vector<double>{1, 1 + std::ldexp(1.0, -10), 65504, kInf, kInf}));
  const Tensor back = Tensor::of<Half>({2}, {{0x0001}, {0xc000}}).cast(DType::kF32).value();
  EXPECT_EQ(back.to_f64(), (std::vector<double>{std::ldexp(1.0, -24), -2}));
}

TEST(Cast, BecomesInfinityBeyondTheRangeOfFloats) {
  EXPECT_THAT(Tensor::of<double>({2}, {1e39, -1e300}).cast(DType::kF32)->to_f64(),
              ElementsAre(kInf, -kInf));
  EXPECT_EQ(Tensor::scalar(uint64_t{UINT64_MAX}).cast(DType::kF64)->to_f64()[0],
            18446744073709551616.0);
}

TEST(Cast, KeepsShapesOfNoElementsAndOfNoAxes) {
  EXPECT_EQ(to_string(Tensor::create(DType::kF32, {2, 0})->cast(DType::kI64)->type()), "i64[2,0]");
  EXPECT_EQ(to_string(Tensor::scalar(2.5).cast(DType::kI32)->type()), "i32[]");
}

TEST(Tensor, IsBitwiseEqualToOneOfTheSameTypeShapeAndBits) {
  const float nan = std::nanf("");
  EXPECT_TRUE(bitwise_equal(Tensor::scalar(nan), Tensor::scalar(nan)));
  EXPECT_FALSE(bitwise_equal(Tensor::scalar(0.f), Tensor::scalar(-0.f)));
  EXPECT_FALSE(bitwise_equal(Tensor::scalar(0.f), Tensor::scalar(0)));
  const Tensor none = *Tensor::create(DType::kF32, {0, 3});
  EXPECT_TRUE(bitwise_equal(none, none));
  EXPECT_FALSE(bitwise_equal(none, none.reshaped({3, 0})));
}

}  // namespace
}  // namespace clvet
