// The tokens of a language model, as its GGUF file lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/metadata.h"

namespace clvet {

using TokenId = int32_t;
inline constexpr TokenId kNoToken = -1;

// Numbers as files have them.
enum class TokenKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,      // marks what text cannot say: the start of a turn, the end
  kUserDefined = 4,  // text that is always one token
  kUnused = 5,
  kByte = 6,  // "<0x0A>"
};

struct Vocabulary {
  std::string_view model;  // "gpt2": byte-level BPE; "llama": SentencePiece
  std::string_view pre;    // name of the pre-tokenizer; empty where the file has none
  std::vector<std::string_view> texts;
  std::vector<TokenKind> kinds;
  std::vector<double> scores;            // llama
  std::vector<std::string_view> merges;  // gpt2: "left right", the first one first
  TokenId bos = kNoToken, eos = kNoToken, eot = kNoToken, unknown = kNoToken;
  bool add_bos = false, add_eos = false;
  bool space_prefix = false;       // llama: text begins with a space that is not in it
  std::string_view chat_template;  // Jinja; empty where the file has none
  std::unordered_map<std::string_view, TokenId> ids;

  size_t size() const { return texts.size(); }
  bool contains(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < texts.size(); }
  TokenId find(std::string_view text) const;  // kNoToken: there is none
  TokenKind kind(TokenId id) const { return kinds[static_cast<size_t>(id)]; }
  std::string_view text(TokenId id) const { return texts[static_cast<size_t>(id)]; }
};

// The keys below "tokenizer.". Text stays in the file, which must outlive the result.
// kInvalidArgument: a key is missing, of another kind or not as long as the list of tokens, an id
// is none of the list; kUnsupported: another kind of tokenizer, which is named.
Result<Vocabulary> read_vocabulary(const GgufMetadata& metadata);

}  // namespace clvet
