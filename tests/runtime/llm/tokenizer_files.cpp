#include "tests/runtime/llm/tokenizer_files.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet::test {
namespace {

nlohmann::json test_data(const std::string& name) {
  return nlohmann::json::parse(*read_file(CLVET_SOURCE_DIR "/tests/data/" + name));
}

}  // namespace

std::vector<GoldenCase> golden_cases(const std::string& file) {
  std::vector<GoldenCase> cases;
  const auto golden = test_data("golden/" + file);
  for (const auto& row : golden.at("cases")) {
    cases.push_back(
        {row.at("prompt").get<std::string>(), row.at("prompt_ids").get<std::vector<TokenId>>(),
         row.at("greedy_ids").get<std::vector<TokenId>>(), row.at("text").get<std::string>()});
  }
  return cases;
}

std::vector<WordCase> word_cases() {
  std::vector<WordCase> cases;
  const auto data = test_data("tokenizers/tokenizers.json");
  for (const auto& row : data.at("words")) {
    cases.push_back({row.at("pre").get<std::string>(), row.at("text").get<std::string>(),
                     row.at("words").get<std::vector<std::string>>()});
  }
  return cases;
}

std::vector<TokenCase> token_cases(const std::string& part) {
  std::vector<TokenCase> cases;
  const auto data = test_data("tokenizers/tokenizers.json");
  for (const auto& row : data.at(part).at("cases")) {
    const auto text = row.at("text").get<std::string>();
    cases.push_back({text, row.at("ids").get<std::vector<TokenId>>(), row.value("decoded", text)});
  }
  return cases;
}

GgufBuilder vocabulary_file(const std::string& part) {
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

TokenizerFile::TokenizerFile(const GgufBuilder& builder) : bytes_(builder.bytes()) {
  auto file = parse_gguf(bytes_);
  EXPECT_TRUE(file) << file.error().message;
  file_ = std::make_unique<GgufFile>(std::move(*file));
  made_ = std::make_unique<Result<Tokenizer>>(Tokenizer::create(file_->metadata()));
}

const Tokenizer& TokenizerFile::get() const {
  EXPECT_TRUE(*made_) << made_->error().message;
  return **made_;
}

std::vector<TokenId> TokenizerFile::ids(const std::string& text) const {
  const auto ids = get().encode(text);
  EXPECT_TRUE(ids) << ids.error().message;
  return *ids;
}

std::string TokenizerFile::fault() const { return *made_ ? std::string() : made_->error().message; }

std::string text_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, bool control) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.bytes(id, control);
  return text;
}

std::string smollm2_path() { return cache_dir() + "/models/SmolLM2-135M-Instruct.Q4_1.gguf"; }

}  // namespace clvet::test
