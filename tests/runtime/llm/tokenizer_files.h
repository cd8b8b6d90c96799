// Tokenizers for tests: small ones as GGUF bytes, and the real one of SmolLM2.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet::test {

// What another program said of a prompt: a case of a file of tests/data/golden.
struct GoldenCase {
  std::string prompt;
  std::vector<TokenId> prompt_ids, greedy_ids;
  std::string text;
};
std::vector<GoldenCase> golden_cases(const std::string& file);

// The cases of tokenizers.json: how a text is cut into words, and its ids in a vocabulary there.
struct WordCase {
  std::string pre, text;
  std::vector<std::string> words;
};
std::vector<WordCase> word_cases();
struct TokenCase {
  std::string text;
  std::vector<TokenId> ids;
  std::string decoded;
};
std::vector<TokenCase> token_cases(const std::string& part);

// A vocabulary of tokenizers.json ("bpe" or "spm") as metadata.
GgufBuilder vocabulary_file(const std::string& part);

// A tokenizer and the bytes that it lives on.
class TokenizerFile {
 public:
  explicit TokenizerFile(const GgufBuilder& builder);
  // For files that must be right.
  const Tokenizer& get() const;
  std::vector<TokenId> ids(const std::string& text) const;
  // Why there is no tokenizer; empty where there is one.
  std::string fault() const;

 private:
  std::string bytes_;
  std::unique_ptr<GgufFile> file_;
  std::unique_ptr<Result<Tokenizer>> made_;
};

std::string text_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                    bool control = true);

// Where `bash ci/setup.sh --test` keeps it.
std::string smollm2_path();

}  // namespace clvet::test
