// The two kinds of tokenizer, as Tokenizer uses them: text without special tokens to ids, and an id
// to the bytes it stands for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the ids of `text`, valid UTF-8. `first`: nothing or a special token stands before it.
  virtual Status encode(std::string_view text, bool first, std::vector<TokenId>& ids) const = 0;
  // Of a token that is neither control nor unknown.
  virtual std::string bytes(TokenId id) const = 0;
};

// Byte-level BPE: words by the vocabulary's pre-tokenizer, each byte a symbol, merges by their
// place in the list. Bytes that are no token become the unknown token. The vocabulary must outlive
// the encoder. kInvalidArgument: a merge that joins no two tokens or makes none.
Result<std::unique_ptr<Encoder>> make_bpe_encoder(const Vocabulary& vocabulary);

// SentencePiece: characters joined to tokens, the highest score first; spaces are U+2581, one put
// before `first` text where the vocabulary says so; characters that are no token become the tokens
// of their bytes, or the unknown token.
std::unique_ptr<Encoder> make_spm_encoder(const Vocabulary& vocabulary);

}  // namespace clvet
