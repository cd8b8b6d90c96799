// GGUF files that are broken on purpose: each ends in one clear line, none in a crash or a large
// allocation.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "base/result.h"
#include "runtime/check/check.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"
#include "runtime/gguf/repack.h"
#include "tests/runtime/gguf/damage.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::gguf_kind;
using test::gguf_string;
using test::GgufBuilder;
using test::MemoryLimit;
using test::raw;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kHuge = ~uint64_t{0};

GgufBuilder broken_base() {
  GgufBuilder builder;
  builder.put("general.architecture", test::gguf_text("llama"))
      .put("llama.block_count", test::gguf_u32(1))
      .put("tokens", test::gguf_texts(std::vector<std::string>{"a", "b", "c"}))
      .put("scores", test::gguf_floats({1, 2, 3}))
      .zeros("token_embd.weight", {64, 3}, "Q8_0")
      .zeros("output_norm.weight", {64})
      .zeros("wq", {256, 2}, "Q6_K");
  return builder;
}

std::string nested_arrays(int depth) {
  std::string value = gguf_kind(GgufKind::kArray);
  for (int i = 0; i < depth; ++i) value += gguf_kind(GgufKind::kArray) + raw(uint64_t{1});
  return value + gguf_kind(GgufKind::kU8) + raw(uint64_t{1}) + "\x01";
}

std::string cut_at(const std::string& bytes, const std::string& part, size_t keep) {
  return bytes.substr(0, bytes.find(part) + keep);
}

std::string patched(std::string bytes, size_t at, const std::string& with) {
  return bytes.replace(at, with.size(), with);
}

// The small file with one change to its parts.
template <class Change>
std::string changed(const Change& change) {
  GgufBuilder builder = broken_base();
  change(builder);
  return builder.bytes();
}
std::string with_value(const std::string& value) {
  return changed([&](GgufBuilder& b) { b.put("k", value); });
}
std::string with_tensor(const std::vector<uint64_t>& shape, uint32_t type) {
  return changed([&](GgufBuilder& b) { b.tensor("t", shape, type, ""); });
}

struct GgufFault {
  const char* name;
  const char* part;  // of the message
  std::string (*make)();
};

const GgufFault kGgufFaults[] = {
    {"empty", "the file is empty", [] { return std::string(); }},
    {"one_byte", "does not begin with GGUF", [] { return std::string("G"); }},
    {"another_format", "not a GGUF file",
     [] { return std::string("GIF89a") + std::string(99, 0); }},
    {"magic_alone", "header: the file ends here, at byte 4", [] { return std::string("GGUF"); }},
    {"version_one", "version 1 is not supported",
     [] { return changed([](GgufBuilder& b) { b.version = 1; }); }},
    {"version_four", "version 4 is not supported",
     [] { return changed([](GgufBuilder& b) { b.version = 4; }); }},
    {"big_endian", "big-endian",
     [] { return changed([](GgufBuilder& b) { b.version = 0x03000000; }); }},
    {"cut_in_tensor_count", "tensor count", [] { return broken_base().bytes().substr(0, 12); }},
    {"cut_in_metadata_count", "metadata count", [] { return GgufBuilder().bytes().substr(0, 20); }},
    {"tensor_count_of_all_ones", "18446744073709551615 of them do not fit",
     [] { return patched(broken_base().bytes(), 8, raw(kHuge)); }},
    {"tensor_count_too_large", "tensor count: 4294967296",
     [] { return patched(broken_base().bytes(), 8, raw(uint64_t{1} << 32)); }},
    {"metadata_count_of_all_ones", "metadata count",
     [] { return patched(broken_base().bytes(), 16, raw(kHuge)); }},
    {"one_pair_too_many", "tensor number 0: a string should have",
     [] { return patched(broken_base().bytes(), 16, raw(uint64_t{5})); }},
    {"cut_in_key", "'general.architecture': the file ends",
     [] {
       GgufBuilder builder;
       builder.put("general.architecture", test::gguf_text("llama"));
       return cut_at(builder.bytes(), "general.arch", 20);
     }},
    {"key_length_of_all_ones", "metadata pair 0: a string should have 18446744073709551615 bytes",
     [] { return patched(broken_base().bytes(), 24, raw(kHuge)); }},
    {"key_length_near_2_to_63", "metadata pair 0",
     [] { return patched(broken_base().bytes(), 24, raw(uint64_t{1} << 63)); }},
    {"empty_key", "its name is empty",
     [] { return changed([](GgufBuilder& b) { b.pairs[0].key.clear(); }); }},
    {"long_key", "at most 65535 are allowed",
     [] { return changed([](GgufBuilder& b) { b.pairs[0].key = std::string(70000, 'k'); }); }},
    {"key_not_utf8", "not valid UTF-8",
     [] { return changed([](GgufBuilder& b) { b.pairs[0].key = "bad\xFF\xFEkey"; }); }},
    {"key_with_newline", "control characters",
     [] { return changed([](GgufBuilder& b) { b.pairs[0].key = "two\nlines"; }); }},
    {"key_twice", "'tokens': it appears twice",
     [] { return changed([](GgufBuilder& b) { b.pairs[0].key = "tokens"; }); }},
    {"unknown_value_type", "'k': value type 13 is not known", [] { return with_value(raw(13u)); }},
    {"value_type_of_all_ones", "value type 4294967295", [] { return with_value(raw(~0u)); }},
    {"boolean_two", "neither 0 nor 1",
     [] { return with_value(gguf_kind(GgufKind::kBool) + "\x02"); }},
    {"string_length_near_2_to_64", "'k': a string should have 18446744073709551608 bytes",
     [] { return with_value(gguf_kind(GgufKind::kString) + raw(kHuge - 7)); }},
    {"array_count_of_all_ones", "'k': 18446744073709551615 of them do not fit",
     [] { return with_value(test::gguf_array(GgufKind::kF64, kHuge, "")); }},
    {"array_bytes_overflow", "'k': 2305843009213693953 of them do not fit",
     [] { return with_value(test::gguf_array(GgufKind::kF64, (kHuge >> 3) + 2, "12345678")); }},
    {"array_of_strings_too_large", "'k': 4000000000 of them do not fit",
     [] { return with_value(test::gguf_array(GgufKind::kString, 4000000000u, "")); }},
    {"string_in_array_too_long", "'k': a string should have",
     [] { return with_value(test::gguf_array(GgufKind::kString, 1, raw(kHuge))); }},
    {"array_of_unknown_type", "'k': value type 77",
     [] { return with_value(test::gguf_array(static_cast<GgufKind>(77), 1, "1")); }},
    {"arrays_nested_nine_deep", "nested deeper than 8",
     [] { return with_value(nested_arrays(9)); }},
    {"arrays_nested_thousand_deep", "nested deeper than 8",
     [] { return with_value(nested_arrays(1000)); }},
    {"array_of_many_arrays", "'k': 999999 of them do not fit",
     [] { return with_value(test::gguf_array(GgufKind::kArray, 999999, "")); }},
    {"cut_in_array", "'scores'", [] { return cut_at(broken_base().bytes(), "scores", 20); }},
    {"alignment_zero", "'general.alignment' is 0",
     [] { return changed([](GgufBuilder& b) { b.put("general.alignment", test::gguf_u32(0)); }); }},
    {"alignment_twelve", "12 is not a multiple of 8",
     [] {
       return changed([](GgufBuilder& b) { b.put("general.alignment", test::gguf_u32(12)); });
     }},
    {"alignment_huge", "'general.alignment' is 4294967288",
     [] {
       return changed(
           [](GgufBuilder& b) { b.put("general.alignment", test::gguf_u32(4294967288u)); });
     }},
    {"alignment_text", "'general.alignment' should be an integer, but is string",
     [] {
       return changed([](GgufBuilder& b) { b.put("general.alignment", test::gguf_text("32")); });
     }},
    {"cut_in_tensor_name", "tensor number 0",
     [] { return cut_at(broken_base().bytes(), "token_embd", 4); }},
    {"tensor_name_twice", "'wq': there are two tensors with this name",
     [] { return changed([](GgufBuilder& b) { b.tensors[0].name = "wq"; }); }},
    {"tensor_name_not_utf8", "tensor number 0: its name",
     [] { return changed([](GgufBuilder& b) { b.tensors[0].name = "\xC0\xAF"; }); }},
    {"tensor_name_empty", "tensor number 0: its name is empty",
     [] { return changed([](GgufBuilder& b) { b.tensors[0].name.clear(); }); }},
    {"tensor_name_long", "at most 1024",
     [] { return changed([](GgufBuilder& b) { b.tensors[0].name = std::string(2000, 'n'); }); }},
    {"no_dims", "'t': it has 0 dimensions", [] { return with_tensor({}, 0); }},
    {"five_dims", "'t': it has 5 dimensions",
     [] {
       return with_tensor({1, 1, 1, 1, 1}, 0);
     }},
    {"dim_zero", "'t': its dimension 1 has the extent 0",
     [] {
       return with_tensor({4, 0}, 0);
     }},
    {"dim_negative", "'t': its dimension 0 has the extent 18446744073709551615",
     [] { return with_tensor({kHuge}, 0); }},
    {"dims_overflow", "more than the file's",
     [] {
       return with_tensor({uint64_t{1} << 32, uint64_t{1} << 32, 4}, 0);
     }},
    {"dims_overflow_to_little", "more than the file's",
     [] {
       return with_tensor({uint64_t{1} << 62, 4, 1}, 0);
     }},
    {"unknown_tensor_type", "'t' has the unknown type 4", [] { return with_tensor({32}, 4); }},
    {"tensor_type_of_all_ones", "type 4294967295", [] { return with_tensor({32}, ~0u); }},
    {"row_not_whole_blocks", "rows of 100 elements are not whole blocks of Q4_K",
     [] {
       return with_tensor({100, 2}, 12);
     }},
    {"offset_off_alignment", "'wq': its offset 257 is not a multiple of 32",
     [] { return changed([](GgufBuilder& b) { b.tensors[2].offset = 257; }); }},
    {"offset_beyond_the_end", "is beyond the file's",
     [] {
       return patched(broken_base().bytes(), broken_base().bytes().find("wq") + 2 + 4 + 16 + 4,
                      raw(uint64_t{1} << 40));
     }},
    {"offset_wraps_around", "is beyond the file's",
     [] {
       return patched(broken_base().bytes(), broken_base().bytes().find("wq") + 2 + 4 + 16 + 4,
                      raw(kHuge - 31));
     }},
    {"tensors_overlap", "overlap those of",
     [] { return changed([](GgufBuilder& b) { b.tensors[1].offset = 32; }); }},
    {"data_cut_by_a_byte", "'wq': its 420 bytes at offset",
     [] {
       const std::string bytes = broken_base().bytes();
       return bytes.substr(0, bytes.size() - 1);
     }},
    {"data_missing", "reach beyond the file's",
     [] {
       const GgufBuilder b = broken_base();
       std::string text = b.header() + b.metadata() + b.table();
       return text + std::string(1024, 0).substr(0, 420 + 64);
     }},
};

// Reads all that can be read of a file; what a caller would do with it.
Status use_gguf(const std::string& bytes) {
  const auto file = test::parse_gguf(bytes);
  if (!file) return tl::unexpected(file.error());
  for (const GgufTensor& tensor : file->tensors()) {
    if (!tensor.type->readable()) continue;
    const auto elements = static_cast<size_t>(tensor.rows() * tensor.columns());
    std::vector<float> values(elements);
    CLVET_RETURN_IF_ERROR(dequantize(*tensor.type, file->data(tensor), values));
    if (!tensor.type->quantised()) continue;
    const auto weights = repack(*tensor.type, file->data(tensor), tensor.rows(), tensor.columns());
    if (!weights) return tl::unexpected(weights.error());
  }
  for (const auto& [key, value] : file->metadata().all()) {
    const GgufMetadata& data = file->metadata();
    (void)data.integer(key, 0, 10);
    (void)data.numbers(key);
    (void)data.integers(key);
    (void)data.strings(key);
  }
  return {};
}

class BrokenGguf : public testing::TestWithParam<GgufFault> {};

TEST_P(BrokenGguf, IsOneLineThatNamesFileFaultAndNextStep) {
  const std::string bytes = GetParam().make();
  const MemoryLimit limit;
  const Status used = use_gguf(bytes);
  ASSERT_FALSE(used) << "accepted; expected: " << GetParam().part;
  const std::string& message = used.error().message;
  EXPECT_THAT(message, AllOf(HasSubstr("test.gguf"), HasSubstr(GetParam().part)));
  EXPECT_THAT(message, HasSubstr("; ")) << "no next step";
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_NE(used.error().code, ErrorCode::kInternal);
  EXPECT_LT(message.size(), 500u);
}

TEST_P(BrokenGguf, IsRefusedByACheckInTheSameWords) {
  const test::TempDir folder;
  test::put(folder / "test.gguf", GetParam().make());
  const MemoryLimit limit;
  const auto record = check_gguf(folder / "test.gguf", nullptr);
  if (!record) {
    EXPECT_THAT(record.error().message, HasSubstr(GetParam().part));
  } else {
    EXPECT_THAT(record->findings, testing::ElementsAre(HasSubstr(GetParam().part)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BrokenGguf, testing::ValuesIn(kGgufFaults),
                         [](const auto& info) { return info.param.name; });

TEST(Gguf, TheFileThatTheOthersAreMadeOfIsRight) {
  const Status used = use_gguf(broken_base().bytes());
  EXPECT_TRUE(used) << used.error().message;
  EXPECT_TRUE(use_gguf(with_value(nested_arrays(7))));
}

TEST(Gguf, EveryCutIsRefused) {
  const std::string whole = broken_base().bytes();
  const MemoryLimit limit;
  for (size_t length = 0; length < whole.size(); ++length) {
    const Status used = use_gguf(whole.substr(0, length));
    ASSERT_FALSE(used) << length;
    ASSERT_THAT(used.error().message, AllOf(HasSubstr("test.gguf"), Not(HasSubstr("\n"))));
  }
}

TEST(Gguf, FiveThousandDamagedFilesAreReadOrRefusedInOneLine) {
  std::mt19937_64 random(20261121);
  const GgufBuilder whole = broken_base();
  const MemoryLimit limit;
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const Status used = use_gguf(test::damaged(whole, random));
    if (used) continue;
    ++refused;
    ASSERT_THAT(used.error().message, AllOf(HasSubstr("test.gguf"), Not(HasSubstr("\n")))) << i;
    ASSERT_NE(used.error().code, ErrorCode::kInternal) << used.error().message;
  }
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 5000) << "some changes do no harm";
}

}  // namespace
}  // namespace clvet
