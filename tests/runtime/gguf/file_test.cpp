#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::GgufBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

GgufBuilder small_gguf() {
  GgufBuilder builder;
  builder.put("general.architecture", test::gguf_text("llama"));
  builder.zeros("a", {64, 2}, "Q8_0").zeros("b", {3}).zeros("c", {2, 2, 2, 2}, "F16");
  return builder;
}

GgufFile good_gguf(const std::string& bytes) {
  auto file = test::parse_gguf(bytes);
  EXPECT_TRUE(file) << file.error().message;
  return std::move(*file);
}

TEST(GgufFile, ReadsTensorsWithShapesTypesAndPlaces) {
  GgufBuilder builder = small_gguf();
  builder.find("b")->data = test::raw(1.f) + test::raw(2.f) + test::raw(3.f);
  const std::string bytes = builder.bytes();
  const GgufFile file = good_gguf(bytes);
  EXPECT_EQ(file.version(), 3);
  ASSERT_EQ(file.tensors().size(), 3u);
  const GgufTensor& a = file.tensors()[0];
  EXPECT_EQ(a.type->name, "Q8_0");
  EXPECT_EQ(a.columns(), 64);
  EXPECT_EQ(a.rows(), 2);
  EXPECT_EQ(a.bytes, 4u * 34);
  EXPECT_EQ(file.find("c")->rows(), 8);
  EXPECT_EQ(describe_shape(file.find("c")->shape), "2x2x2x2");
  EXPECT_EQ(file.find("nothing"), nullptr);
  const auto data = file.data(*file.find("b"));
  std::vector<float> values(3);
  ASSERT_TRUE(dequantize(*file.find("b")->type, data, values));
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

TEST(GgufFile, ReadsEveryKindOfValue) {
  using enum GgufKind;
  using test::gguf_kind, test::raw;
  GgufBuilder builder;
  builder.put("u8", gguf_kind(kU8) + raw(uint8_t{200}))
      .put("i8", gguf_kind(kI8) + raw(int8_t{-3}))
      .put("u16", gguf_kind(kU16) + raw(uint16_t{60000}))
      .put("i16", gguf_kind(kI16) + raw(int16_t{-300}))
      .put("u32", test::gguf_u32(4000000000u))
      .put("i32", gguf_kind(kI32) + raw(int32_t{-70000}))
      .put("f32", test::gguf_f32(0.5f))
      .put("bool", test::gguf_bool(true))
      .put("string", test::gguf_text("text"))
      .put("u64", gguf_kind(kU64) + raw(uint64_t{1} << 40))
      .put("i64", gguf_kind(kI64) + raw(-(int64_t{1} << 40)))
      .put("f64", gguf_kind(kF64) + raw(0.1))
      .put("texts", test::gguf_texts(std::vector<std::string>{"a", "", "c"}))
      .put("floats", test::gguf_floats({1, 2.5f}))
      .put("ints", test::gguf_ints({-1, 7}))
      .put("empty", test::gguf_array(kU64, 0, ""))
      .put("nested",
           test::gguf_array(kArray, 2,
                            gguf_kind(kU8) + raw(uint64_t{2}) + "\x01\x02" + gguf_kind(kString) +
                                raw(uint64_t{1}) + test::gguf_string("x")));
  const std::string bytes = builder.bytes();
  const GgufFile file = good_gguf(bytes);
  const GgufMetadata& data = file.metadata();
  EXPECT_EQ(data.all().size(), 17u);
  EXPECT_EQ(*data.integer("u8", 0, 255), 200);
  EXPECT_EQ(*data.integer("i8", -128, 0), -3);
  EXPECT_EQ(*data.integer("u16", 0, 65535), 60000);
  EXPECT_EQ(*data.integer("i16", -1000, 0), -300);
  EXPECT_EQ(*data.integer("u32", 0, INT64_MAX), 4000000000);
  EXPECT_EQ(*data.integer("i32", INT32_MIN, 0), -70000);
  EXPECT_EQ(*data.integer("u64", 0, INT64_MAX), int64_t{1} << 40);
  EXPECT_EQ(*data.integer("i64", INT64_MIN, 0), -(int64_t{1} << 40));
  EXPECT_EQ(*data.number("f32"), 0.5);
  EXPECT_EQ(*data.number("f64"), 0.1);
  EXPECT_EQ(*data.number("u8"), 200);
  EXPECT_TRUE(*data.boolean("bool"));
  EXPECT_EQ(*data.string("string"), "text");
  EXPECT_THAT(*data.strings("texts"), ElementsAre("a", "", "c"));
  EXPECT_THAT(*data.numbers("floats"), ElementsAre(1, 2.5));
  EXPECT_THAT(*data.integers("ints"), ElementsAre(-1, 7));
  EXPECT_TRUE(data.integers("empty")->empty());
  const auto& nested = std::get<GgufArray>(data.find("nested")->value);
  ASSERT_EQ(nested.arrays.size(), 2u);
  EXPECT_EQ(nested.arrays[0].count, 2u);
  EXPECT_THAT(nested.arrays[1].strings, ElementsAre("x"));
}

TEST(GgufMetadata, SaysWhichKeyIsMissingOrOfAnotherKind) {
  GgufBuilder builder;
  builder.put("word", test::gguf_text("x"))
      .put("big", test::gguf_u32(9))
      .put("nan", test::gguf_f32(std::numeric_limits<float>::quiet_NaN()));
  const std::string bytes = builder.bytes();
  const GgufFile file = good_gguf(bytes);
  const GgufMetadata& data = file.metadata();
  EXPECT_THAT(data.string("absent").error().message,
              testing::AllOf(HasSubstr("test.gguf"), HasSubstr("'absent' is missing")));
  EXPECT_THAT(data.integer("word", 0, 1).error().message,
              HasSubstr("'word' should be an integer, but is string"));
  EXPECT_THAT(data.integer("big", 0, 8).error().message,
              HasSubstr("'big' is 9, but must be from 0 to 8"));
  EXPECT_THAT(data.strings("word").error().message, HasSubstr("array of strings"));
  EXPECT_FALSE(data.integers("word"));
  EXPECT_FALSE(data.boolean("big"));
  EXPECT_FALSE(data.number("nan"));
  EXPECT_EQ(*data.integer_or("absent", 5, 0, 8), 5);
  EXPECT_FALSE(data.integer_or("big", 5, 0, 8)) << "a fallback is for absent keys alone";
  EXPECT_EQ(*data.number_or("absent", 2.5), 2.5);
  EXPECT_TRUE(*data.boolean_or("absent", true));
  EXPECT_EQ(*data.string_or("absent", "d"), "d");
}

TEST(GgufFile, FollowsTheAlignmentThatTheFileStates) {
  GgufBuilder builder;
  builder.alignment = 128;
  builder.put("general.alignment", test::gguf_u32(128)).zeros("a", {1}).zeros("b", {1});
  builder.find("b")->data = test::raw(4.f);
  const std::string bytes = builder.bytes();
  const GgufFile file = good_gguf(bytes);
  EXPECT_EQ(file.find("b")->offset % 128, 0u);
  EXPECT_EQ(test::raw(4.f),
            std::string(reinterpret_cast<const char*>(file.data(*file.find("b")).data()), 4));
}

TEST(GgufFile, ReadsVersionTwoWhichDiffersInItsNumberAlone) {
  GgufBuilder builder = small_gguf();
  builder.version = 2;
  EXPECT_EQ(good_gguf(builder.bytes()).version(), 2);
}

TEST(GgufFile, MayHoldNoTensors) {
  GgufBuilder builder;
  builder.put("tokenizer.ggml.model", test::gguf_text("gpt2"));
  EXPECT_TRUE(good_gguf(builder.bytes()).tensors().empty());
}

TEST(GgufFile, IsMappedFromDiskAndOutlivesItsMove) {
  const test::TempDir folder;
  test::put(folder / "m.gguf", small_gguf().bytes());
  auto file = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(file) << file.error().message;
  const GgufFile moved = std::move(*file);
  EXPECT_EQ(moved.find("a")->name, "a");
  EXPECT_EQ(moved.data(*moved.find("a")).size(), 136u);
}

TEST(GgufFile, CannotBeOpenedWhereThereIsNoFile) {
  const test::TempDir folder;
  EXPECT_EQ(GgufFile::open(folder / "absent.gguf").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(GgufFile::open(folder.path()).error().message, HasSubstr("not a file"));
  EXPECT_FALSE(GgufFile::open("/dev/zero"));
  test::put(folder / "empty.gguf", "");
  EXPECT_THAT(GgufFile::open(folder / "empty.gguf").error().message, HasSubstr("empty"));
}

}  // namespace
}  // namespace clvet
