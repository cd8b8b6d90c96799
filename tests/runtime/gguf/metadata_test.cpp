#include "runtime/gguf/metadata.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet {
namespace {

using test::gguf_kind;
using test::raw;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One key "k", read from a file.
class OneKey {
 public:
  explicit OneKey(const std::string& value) {
    test::GgufBuilder builder;
    builder.put("k", value);
    bytes_ = builder.bytes();
    auto file = test::parse_gguf(bytes_);
    EXPECT_TRUE(file) << file.error().message;
    data_ = file->metadata();
  }
  const GgufMetadata* operator->() const { return &data_; }

 private:
  std::string bytes_;
  GgufMetadata data_;
};

template <class T>
std::string number(GgufKind kind, T value) {
  return gguf_kind(kind) + raw(value);
}

TEST(GgufMetadata, BoundsIntegersOfEveryWidthAtTheirEnds) {
  using enum GgufKind;
  struct Row {
    std::string value;
    int64_t want;
  };
  for (const Row& row :
       {Row{number(kU8, uint8_t{255}), 255}, Row{number(kI8, int8_t{-128}), -128},
        Row{number(kU16, uint16_t{65535}), 65535}, Row{number(kI16, int16_t{-32768}), -32768},
        Row{number(kU32, UINT32_MAX), UINT32_MAX}, Row{number(kI32, INT32_MIN), INT32_MIN},
        Row{number(kU64, uint64_t{INT64_MAX}), INT64_MAX},
        Row{number(kI64, INT64_MIN), INT64_MIN}}) {
    const OneKey data(row.value);
    EXPECT_EQ(data->integer("k", row.want, row.want).value(), row.want);
    if (row.want < INT64_MAX) {
      EXPECT_FALSE(data->integer("k", row.want + 1, INT64_MAX)) << row.want;
    }
    if (row.want > INT64_MIN) {
      EXPECT_FALSE(data->integer("k", INT64_MIN, row.want - 1)) << row.want;
    }
    EXPECT_EQ(data->number("k").value(), static_cast<double>(row.want));
  }
}

TEST(GgufMetadata, RefusesAnIntegerThatNoInt64Holds) {
  const OneKey data(number(GgufKind::kU64, uint64_t{1} << 63));
  EXPECT_THAT(data->integer("k", INT64_MIN, INT64_MAX).error().message,
              HasSubstr("'k' should be an integer, but is u64"));
  EXPECT_FALSE(data->number("k"));
  const OneKey list(test::gguf_array(GgufKind::kU64, 2, raw(uint64_t{1}) + raw(~uint64_t{0})));
  EXPECT_FALSE(list->integers("k"));
}

TEST(GgufMetadata, RefusesNumbersThatAreNotFinite) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_FALSE(OneKey(number(GgufKind::kF64, value))->number("k"));
    EXPECT_FALSE(OneKey(number(GgufKind::kF32, static_cast<float>(value)))->number("k"));
    EXPECT_FALSE(OneKey(test::gguf_floats({1, static_cast<float>(value)}))->numbers("k"));
  }
}

TEST(GgufMetadata, TakesNoKindForAnother) {
  struct Row {
    std::string value;
    const char* is;
  };
  for (const Row& row : {Row{test::gguf_text("1"), "string"}, Row{test::gguf_bool(true), "bool"},
                         Row{test::gguf_f32(1), "f32"}, Row{test::gguf_u32(1), "u32"},
                         Row{test::gguf_floats({1}), "array of f32"},
                         Row{test::gguf_texts(std::vector<std::string>{"1"}), "array of string"},
                         Row{test::gguf_array(GgufKind::kBool, 1, "\x01"), "array of bool"}}) {
    const OneKey data(row.value);
    const std::string is = row.is;
    const auto refused = [&](const auto& result) {
      EXPECT_FALSE(result) << is;
      EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(result.error().message,
                  AllOf(HasSubstr("test.gguf"), HasSubstr("'k' should be"), HasSubstr("is " + is)));
    };
    if (is != "u32") refused(data->integer("k", 0, 9));
    if (is != "u32" && is != "f32") refused(data->number("k"));
    if (is != "bool") refused(data->boolean("k"));
    if (is != "string") refused(data->string("k"));
    if (is != "array of string") refused(data->strings("k"));
    if (is != "array of f32") refused(data->numbers("k"));
    refused(data->integers("k"));
    EXPECT_EQ(describe(*data->find("k")), is);
  }
}

TEST(GgufMetadata, ReadsArraysOfEveryWidthUnaligned) {
  using enum GgufKind;
  EXPECT_THAT(*OneKey(test::gguf_array(kI8, 2, "\xff\x05"))->integers("k"), ElementsAre(-1, 5));
  EXPECT_THAT(*OneKey(test::gguf_array(kU16, 1, raw(uint16_t{65535})))->integers("k"),
              ElementsAre(65535));
  EXPECT_THAT(*OneKey(test::gguf_array(kI64, 1, raw(INT64_MIN)))->integers("k"),
              ElementsAre(INT64_MIN));
  EXPECT_THAT(*OneKey(test::gguf_array(kF64, 2, raw(0.1) + raw(-1e300)))->numbers("k"),
              ElementsAre(0.1, -1e300));
  EXPECT_THAT(*OneKey(test::gguf_array(kU8, 0, ""))->numbers("k"), IsEmpty());
  EXPECT_THAT(*OneKey(test::gguf_ints({3}))->numbers("k"), ElementsAre(3));
}

TEST(GgufMetadata, KeepsTheFirstOfTwoKeys) {
  GgufMetadata data("f");
  EXPECT_TRUE(data.add("k", {GgufKind::kU8, uint64_t{1}}));
  EXPECT_FALSE(data.add("k", {GgufKind::kU8, uint64_t{2}}));
  EXPECT_EQ(*data.integer("k", 0, 9), 1);
}

TEST(GgufKinds, HaveTheSizesOfTheirNumbers) {
  const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  for (uint32_t kind = 0; kind < std::size(sizes); ++kind) {
    EXPECT_EQ(size_of(static_cast<GgufKind>(kind)), sizes[kind]) << kind;
  }
  for (const uint32_t kind : {13u, 255u, UINT32_MAX}) {
    EXPECT_EQ(size_of(static_cast<GgufKind>(kind)), 0u);
    EXPECT_STREQ(to_string(static_cast<GgufKind>(kind)), "?");
  }
}

}  // namespace
}  // namespace clvet
