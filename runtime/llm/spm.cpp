#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/llm/encoder.h"
#include "runtime/llm/merge.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  while (true) {
    const size_t at = text.find(from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(at + from.size());
  }
}

// "<0x0A>" is 10; -1 where it is no such text.
int byte_of(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  int byte = 0;
  for (const char digit : text.substr(3, 2)) {
    const size_t value = std::string_view("0123456789ABCDEF").find(digit);
    if (value == std::string_view::npos) return -1;
    byte = byte * 16 + static_cast<int>(value);
  }
  return byte;
}

class SpmEncoder : public Encoder {
 public:
  explicit SpmEncoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    byte_ids_.fill(kNoToken);
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      const int byte = byte_of(vocabulary.text(id));
      if (vocabulary.kind(id) == TokenKind::kByte && byte >= 0) {
        byte_ids_[static_cast<size_t>(byte)] = id;
      }
    }
  }

  Status encode(std::string_view text, bool first, std::vector<TokenId>& ids) const override {
    const std::string prefix = first && vocabulary_.space_prefix ? " " : "";
    const std::string spaced = replaced(prefix + std::string(text), " ", kSpace);
    std::vector<Symbol> symbols;
    for (size_t at = 0; at < spaced.size();) {
      const size_t length = std::max<size_t>(utf8_length(std::string_view(spaced).substr(at)), 1);
      const std::string_view letter = std::string_view(spaced).substr(at, length);
      symbols.push_back({letter, find_piece(letter)});
      at += length;
    }
    const auto find = [this](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const std::string_view both(left.text.data(), left.text.size() + right.text.size());
      const TokenId id = find_piece(both);
      if (id == kNoToken) return std::nullopt;
      return Merge{-vocabulary_.scores[static_cast<size_t>(id)], id};
    };
    for (const Symbol& symbol : merge_neighbours(std::move(symbols), find)) {
      CLVET_RETURN_IF_ERROR(add_symbol(symbol, ids));
    }
    return {};
  }

  std::string bytes(TokenId id) const override {
    const std::string_view text = vocabulary_.text(id);
    if (vocabulary_.kind(id) == TokenKind::kByte) {
      const int byte = byte_of(text);
      if (byte >= 0) return {static_cast<char>(byte)};
    }
    return replaced(text, kSpace, " ");
  }

 private:
  // Text never becomes a control, unknown or byte token, however it is spelt.
  TokenId find_piece(std::string_view text) const {
    const TokenId id = vocabulary_.find(text);
    if (id == kNoToken) return kNoToken;
    const TokenKind kind = vocabulary_.kind(id);
    const bool piece =
        kind == TokenKind::kNormal || kind == TokenKind::kUserDefined || kind == TokenKind::kUnused;
    return piece ? id : kNoToken;
  }

  Status add_symbol(const Symbol& symbol, std::vector<TokenId>& ids) const {
    if (symbol.id != kNoToken) {
      ids.push_back(symbol.id);
      return {};
    }
    const size_t start = ids.size();
    for (const char byte : symbol.text) {
      const TokenId id = byte_ids_[static_cast<uint8_t>(byte)];
      if (id == kNoToken) {
        ids.resize(start);
        if (vocabulary_.unknown == kNoToken) {
          return fail(ErrorCode::kInvalidArgument,
                      "the model has no token for '{}'; remove it from the text",
                      one_line(symbol.text));
        }
        ids.push_back(vocabulary_.unknown);
        return {};
      }
      ids.push_back(id);
    }
    return {};
  }

  const Vocabulary& vocabulary_;
  std::array<TokenId, 256> byte_ids_{};
};

}  // namespace

std::unique_ptr<Encoder> make_spm_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<SpmEncoder>(vocabulary);
}

}  // namespace clvet
