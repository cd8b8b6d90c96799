// Text to the ids that a model reads, and back.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/metadata.h"
#include "runtime/llm/encoder.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {

// A stretch of a prompt. Where `special`, the names of control tokens in it ("<|im_start|>") are
// those tokens; elsewhere they are text like any other, so that what a user types cannot end a
// turn.
struct PromptPart {
  std::string text;
  bool special = false;
};

class Tokenizer {
 public:
  // By the "tokenizer." keys; their file must outlive the tokenizer. Errors are those of
  // read_vocabulary, Pretokenizer::named and make_bpe_encoder.
  static Result<Tokenizer> create(const GgufMetadata& metadata);

  // The ids of the parts as one text, with the tokens around it that the model wants (`bos`, `eos`)
  // where `whole`. kInvalidArgument: not valid UTF-8, or something that the model has no token for.
  Result<std::vector<TokenId>> encode(std::span<const PromptPart> parts, bool whole = true) const;
  // One special part.
  Result<std::vector<TokenId>> encode(const std::string& text, bool whole = true) const;

  // The bytes that `id` stands for, which need not be whole characters (see TextStream): a control
  // token's name where `control`, else nothing for it; U+FFFD for the unknown token and for an id
  // beyond the vocabulary.
  std::string bytes(TokenId id, bool control = false) const;

  // True for each token after which a model has said all: eos, eot, and the control tokens that end
  // a turn by name.
  bool ends(TokenId id) const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  struct Fragment {
    std::string text;
    TokenId id = kNoToken;  // where it is a special token
  };
  Tokenizer() = default;
  void index_special_tokens();
  void cut(const PromptPart& part, std::vector<Fragment>& fragments) const;
  // The longest special token that `text` begins with.
  TokenId special_at(std::string_view text, bool control) const;

  std::unique_ptr<Vocabulary> vocabulary_;  // stays where it is: the encoder refers to it
  std::unique_ptr<Encoder> encoder_;
  // Lengths of the special tokens that begin with each byte, the longest first.
  std::array<std::vector<size_t>, 256> special_lengths_;
};

}  // namespace clvet
