#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/llm/encoder.h"
#include "runtime/llm/merge.h"
#include "runtime/llm/pretokenizer.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

std::string utf8_of(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
}

// The letter that stands for each byte in the vocabulary: itself where it is printable in Latin-1,
// else the next one from U+0100 on.
std::array<std::string, 256> byte_letters() {
  std::array<std::string, 256> letters;
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    letters[byte] = utf8_of(printable ? byte : next++);
  }
  return letters;
}

struct RankedMerge {
  uint32_t rank = 0;
  TokenId id = kNoToken;
};
using MergeTable = std::unordered_map<uint64_t, RankedMerge>;

uint64_t pair_key(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

Result<MergeTable> read_merges(const Vocabulary& vocabulary) {
  MergeTable table;
  table.reserve(vocabulary.merges.size());
  std::string joined;
  for (size_t i = 0; i < vocabulary.merges.size(); ++i) {
    const std::string_view merge = vocabulary.merges[i];
    const size_t space = merge.find(' ', 1);
    const std::string_view left = merge.substr(0, space);
    const std::string_view right =
        space == std::string_view::npos ? std::string_view{} : merge.substr(space + 1);
    joined.assign(left).append(right);
    const TokenId a = vocabulary.find(left), b = vocabulary.find(right),
                  both = vocabulary.find(joined);
    if (a == kNoToken || b == kNoToken || both == kNoToken) {
      return fail(ErrorCode::kInvalidArgument,
                  "merge {} ('{}') does not join two tokens into a third; convert the model again",
                  i, one_line(merge, 60));
    }
    table.emplace(pair_key(a, b), RankedMerge{static_cast<uint32_t>(i), both});
  }
  return table;
}

class BpeEncoder : public Encoder {
 public:
  BpeEncoder(const Vocabulary& vocabulary, Pretokenizer pretokenizer, MergeTable merges)
      : vocabulary_(vocabulary),
        pretokenizer_(std::move(pretokenizer)),
        merges_(std::move(merges)) {
    const auto letters = byte_letters();
    for (unsigned byte = 0; byte < 256; ++byte) {
      byte_ids_[byte] = vocabulary.find(letters[byte]);
      bytes_.emplace(letters[byte], static_cast<char>(byte));
    }
  }

  Status encode(std::string_view text, bool, std::vector<TokenId>& ids) const override {
    std::vector<std::string_view> words;
    CLVET_RETURN_IF_ERROR(pretokenizer_.split(text, words));
    for (const std::string_view word : words) CLVET_RETURN_IF_ERROR(encode_word(word, ids));
    return {};
  }

  std::string bytes(TokenId id) const override {
    std::string_view text = vocabulary_.text(id);
    if (vocabulary_.kind(id) == TokenKind::kUserDefined) return std::string(text);
    std::string out;
    while (!text.empty()) {
      const size_t length = std::max<size_t>(utf8_length(text), 1);
      const auto found = bytes_.find(std::string(text.substr(0, length)));
      if (found == bytes_.end()) {
        out += text.substr(0, length);
      } else {
        out += found->second;
      }
      text.remove_prefix(length);
    }
    return out;
  }

 private:
  Status encode_word(std::string_view word, std::vector<TokenId>& ids) const {
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    for (size_t i = 0; i < word.size(); ++i) {
      symbols.push_back({word.substr(i, 1), byte_ids_[static_cast<uint8_t>(word[i])]});
    }
    const auto find = [this](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const auto found = merges_.find(pair_key(left.id, right.id));
      if (found == merges_.end()) return std::nullopt;
      return Merge{static_cast<double>(found->second.rank), found->second.id};
    };
    for (const Symbol& symbol : merge_neighbours(std::move(symbols), find)) {
      const TokenId id = symbol.id == kNoToken ? vocabulary_.unknown : symbol.id;
      if (id == kNoToken) {
        return fail(ErrorCode::kInvalidArgument,
                    "the model has no token for the byte 0x{:02X}; remove it from the text",
                    static_cast<uint8_t>(symbol.text[0]));
      }
      ids.push_back(id);
    }
    return {};
  }

  const Vocabulary& vocabulary_;
  Pretokenizer pretokenizer_;
  MergeTable merges_;
  std::array<TokenId, 256> byte_ids_{};
  std::unordered_map<std::string, char> bytes_;
};

}  // namespace

Result<std::unique_ptr<Encoder>> make_bpe_encoder(const Vocabulary& vocabulary) {
  CLVET_ASSIGN_OR_RETURN(Pretokenizer pretokenizer, Pretokenizer::named(vocabulary.pre));
  CLVET_ASSIGN_OR_RETURN(MergeTable merges, read_merges(vocabulary));
  return std::unique_ptr<Encoder>(
      std::make_unique<BpeEncoder>(vocabulary, std::move(pretokenizer), std::move(merges)));
}

}  // namespace clvet
