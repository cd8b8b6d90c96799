#include "runtime/llm/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/gguf/metadata.h"
#include "runtime/llm/encoder.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";
// Control tokens that end a turn or a text in the models that we know.
constexpr std::string_view kEndings[] = {
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "</s>", "<eos>"};

bool is_special(TokenKind kind) {
  return kind == TokenKind::kControl || kind == TokenKind::kUserDefined;
}

}  // namespace

Result<Tokenizer> Tokenizer::create(const GgufMetadata& metadata) {
  CLVET_ASSIGN_OR_RETURN(Vocabulary vocabulary, read_vocabulary(metadata));
  Tokenizer made;
  made.vocabulary_ = std::make_unique<Vocabulary>(std::move(vocabulary));
  if (made.vocabulary_->model == "llama") {
    made.encoder_ = make_spm_encoder(*made.vocabulary_);
  } else {
    CLVET_ASSIGN_OR_RETURN(made.encoder_, make_bpe_encoder(*made.vocabulary_));
  }
  made.index_special_tokens();
  return made;
}

void Tokenizer::index_special_tokens() {
  std::array<std::set<size_t, std::greater<>>, 256> lengths;
  for (size_t i = 0; i < vocabulary_->size(); ++i) {
    const std::string_view text = vocabulary_->texts[i];
    if (is_special(vocabulary_->kinds[i]) && !text.empty()) {
      lengths[static_cast<uint8_t>(text[0])].insert(text.size());
    }
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    special_lengths_[i].assign(lengths[i].begin(), lengths[i].end());
  }
}

TokenId Tokenizer::special_at(std::string_view text, bool control) const {
  for (const size_t length : special_lengths_[static_cast<uint8_t>(text[0])]) {
    if (length > text.size()) continue;
    const TokenId id = vocabulary_->find(text.substr(0, length));
    if (id == kNoToken) continue;
    const TokenKind kind = vocabulary_->kind(id);
    if (kind == TokenKind::kUserDefined || (control && kind == TokenKind::kControl)) return id;
  }
  return kNoToken;
}

void Tokenizer::cut(const PromptPart& part, std::vector<Fragment>& fragments) const {
  std::string_view rest = part.text;
  size_t plain = 0;  // bytes of `rest` that belong to no special token
  const auto take_plain = [&] {
    if (plain == 0) return;
    if (fragments.empty() || fragments.back().id != kNoToken) fragments.emplace_back();
    fragments.back().text += rest.substr(0, plain);
    rest.remove_prefix(plain);
    plain = 0;
  };
  while (plain < rest.size()) {
    const TokenId id = special_at(rest.substr(plain), part.special);
    if (id == kNoToken) {
      ++plain;
      continue;
    }
    take_plain();
    fragments.push_back({{}, id});
    rest.remove_prefix(vocabulary_->text(id).size());
  }
  take_plain();
}

Result<std::vector<TokenId>> Tokenizer::encode(std::span<const PromptPart> parts,
                                               bool whole) const {
  std::vector<Fragment> fragments;
  for (const PromptPart& part : parts) {
    if (!is_utf8(part.text)) {
      return fail(ErrorCode::kInvalidArgument,
                  "the text '{}' is not valid UTF-8; convert it to UTF-8", one_line(part.text, 60));
    }
    cut(part, fragments);
  }
  std::vector<TokenId> ids;
  if (whole && vocabulary_->add_bos) ids.push_back(vocabulary_->bos);
  bool first = true;
  for (const Fragment& fragment : fragments) {
    if (fragment.id != kNoToken) {
      ids.push_back(fragment.id);
    } else {
      CLVET_RETURN_IF_ERROR(encoder_->encode(fragment.text, first, ids));
    }
    first = fragment.id != kNoToken;
  }
  if (whole && vocabulary_->add_eos) ids.push_back(vocabulary_->eos);
  return ids;
}

Result<std::vector<TokenId>> Tokenizer::encode(const std::string& text, bool whole) const {
  const PromptPart part{text, true};
  return encode(std::span(&part, 1), whole);
}

std::string Tokenizer::bytes(TokenId id, bool control) const {
  if (!vocabulary_->contains(id)) return std::string(kReplacementText);
  switch (vocabulary_->kind(id)) {
    case TokenKind::kControl:
      return control ? std::string(vocabulary_->text(id)) : std::string();
    case TokenKind::kUnknown:
      return std::string(kReplacementText);
    default:
      return encoder_->bytes(id);
  }
}

bool Tokenizer::ends(TokenId id) const {
  if (!vocabulary_->contains(id)) return false;
  if (id == vocabulary_->eos || id == vocabulary_->eot) return true;
  return vocabulary_->kind(id) == TokenKind::kControl &&
         std::find(std::begin(kEndings), std::end(kEndings), vocabulary_->text(id)) !=
             std::end(kEndings);
}

}  // namespace clvet
