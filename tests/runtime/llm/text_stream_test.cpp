#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "runtime/llm/text_stream.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/tokenizer_files.h"

namespace clvet {
namespace {

#define REPLACED "\xEF\xBF\xBD"

// Token i is the byte i.
const Tokenizer& byte_tokenizer() {
  static const test::TokenizerFile file = [] {
    test::GgufBuilder builder;
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.push_back(fmt::format("<0x{:02X}>", byte));
    builder.put("tokenizer.ggml.model", test::gguf_text("llama"))
        .put("tokenizer.ggml.tokens", test::gguf_texts(tokens))
        .put("tokenizer.ggml.token_type", test::gguf_ints(std::vector<int>(256, 6)))
        .put("tokenizer.ggml.scores", test::gguf_floats(std::vector<float>(256)))
        .put("tokenizer.ggml.add_bos_token", test::gguf_bool(false));
    return test::TokenizerFile(builder);
  }();
  return file.get();
}

struct StreamRow {
  const char* name;
  std::string bytes;
  std::vector<std::string> pieces;  // what each byte gives; then what finish() gives
};

class Stream : public testing::TestWithParam<StreamRow> {};

TEST_P(Stream, GivesEachCharacterWithItsLastByte) {
  TextStream stream(byte_tokenizer());
  std::vector<std::string> pieces;
  for (const char byte : GetParam().bytes) {
    pieces.push_back(stream.push(static_cast<uint8_t>(byte)));
  }
  pieces.push_back(stream.finish());
  EXPECT_EQ(pieces, GetParam().pieces);
}

INSTANTIATE_TEST_SUITE_P(
    Bytes, Stream,
    testing::Values(
        StreamRow{"ascii", "ab", {"a", "b", ""}},
        StreamRow{"two_bytes", "\xC3\xA9!", {"", "\xC3\xA9", "!", ""}},
        StreamRow{"three_bytes", "\xE2\x82\xAC", {"", "", "\xE2\x82\xAC", ""}},
        StreamRow{"four_bytes", "\xF0\x9F\x99\x82", {"", "", "", "\xF0\x9F\x99\x82", ""}},
        StreamRow{"cut_at_the_end", "a\xE2\x82", {"a", "", "", REPLACED REPLACED}},
        StreamRow{"cut_by_text", "\xE2\x82z", {"", "", REPLACED REPLACED "z", ""}},
        StreamRow{"lone_continuation", "\x80z", {REPLACED, "z", ""}},
        StreamRow{"never_valid", "\xFF\xC0", {REPLACED, REPLACED, ""}},
        StreamRow{"overlong", "\xE0\x80z", {"", REPLACED REPLACED, "z", ""}},
        StreamRow{"surrogate", "\xED\xA0\x80", {"", REPLACED REPLACED, REPLACED, ""}},
        StreamRow{"last_code_points", "\xF4\x8F\xBF\xBF", {"", "", "", "\xF4\x8F\xBF\xBF", ""}},
        StreamRow{"beyond_unicode", "\xF4\x90", {"", REPLACED REPLACED, ""}}),
    [](const auto& info) { return info.param.name; });

TEST(TextStream, GivesValidUtf8WhateverComes) {
  TextStream stream(byte_tokenizer());
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    ASSERT_TRUE(is_utf8(stream.push(static_cast<TokenId>(state >> 24)))) << i;
  }
  EXPECT_TRUE(is_utf8(stream.finish()));
  EXPECT_EQ(stream.push('a'), "a") << "starts anew";
}

TEST(TextStream, LeavesOutTheFirstSpaceOnlyAtTheStartOfAText) {
  const test::TokenizerFile file(test::vocabulary_file("spm"));
  TextStream start(file.get(), {.at_start = true}), rest(file.get());
  EXPECT_EQ(start.push(262), "the");
  EXPECT_EQ(start.push(262), " the");
  EXPECT_EQ(rest.push(262), " the");
}

}  // namespace
}  // namespace clvet
