// Tokenizers for tests: small ones as GGUF bytes, and the real one of SmolLM2.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet::test {

inline nlohmann::json test_data(const std::string& name) {
  return nlohmann::json::parse(*read_file(CLVET_SOURCE_DIR "/tests/data/" + name));
}

// A vocabulary of tokenizers.json ("bpe" or "spm") as metadata.
inline GgufBuilder vocabulary_file(const std::string& part) {
  const auto data = test_data("tokenizers/tokenizers.json").at(part);
  GgufBuilder builder;
  builder.put("tokenizer.ggml.model", gguf_text(part == "bpe" ? "gpt2" : "llama"))
      .put("tokenizer.ggml.tokens", gguf_texts(data.at("tokens").get<std::vector<std::string>>()))
      .put("tokenizer.ggml.token_type", gguf_ints(data.at("types").get<std::vector<int>>()));
  if (part == "bpe") {
    builder.put("tokenizer.ggml.pre", gguf_text("smollm"))
        .put("tokenizer.ggml.merges",
             gguf_texts(data.at("merges").get<std::vector<std::string>>()));
  } else {
    builder.put("tokenizer.ggml.scores", gguf_floats(data.at("scores").get<std::vector<float>>()))
        .put("tokenizer.ggml.unknown_token_id", gguf_u32(0))
        .put("tokenizer.ggml.bos_token_id", gguf_u32(1))
        .put("tokenizer.ggml.eos_token_id", gguf_u32(2))
        .put("tokenizer.ggml.add_bos_token", gguf_bool(false));
  }
  return builder;
}

// A tokenizer and the bytes that it lives on.
class TokenizerFile {
 public:
  explicit TokenizerFile(const GgufBuilder& builder) : bytes_(builder.bytes()) {
    auto file = parse_gguf(bytes_);
    EXPECT_TRUE(file) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
    made_ = std::make_unique<Result<Tokenizer>>(Tokenizer::create(file_->metadata()));
  }
  const Tokenizer& get() const {
    EXPECT_TRUE(*made_) << made_->error().message;
    return **made_;
  }
  std::string fault() const { return *made_ ? std::string() : made_->error().message; }
  std::vector<TokenId> ids(const std::string& text) const {
    const auto ids = get().encode(text);
    EXPECT_TRUE(ids) << ids.error().message;
    return *ids;
  }

 private:
  std::string bytes_;
  std::unique_ptr<GgufFile> file_;
  std::unique_ptr<Result<Tokenizer>> made_;
};

inline std::string text_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                           bool control = true) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.bytes(id, control);
  return text;
}

// Where `bash ci/setup.sh --test` keeps it.
inline std::string smollm2_path() {
  return cache_dir() + "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
}

}  // namespace clvet::test
