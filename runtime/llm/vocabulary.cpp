#include "runtime/llm/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/gguf/metadata.h"

namespace clvet {
namespace {

constexpr size_t kMostTokens = size_t{1} << 24;

struct IdRow {
  const char* key;
  TokenId Vocabulary::*id;
};
constexpr IdRow kIdRows[] = {
    {"tokenizer.ggml.bos_token_id", &Vocabulary::bos},
    {"tokenizer.ggml.eos_token_id", &Vocabulary::eos},
    {"tokenizer.ggml.eot_token_id", &Vocabulary::eot},
    {"tokenizer.ggml.unknown_token_id", &Vocabulary::unknown},
};

tl::unexpected<Error> wrong_length(const char* key, size_t length, size_t tokens) {
  return fail(ErrorCode::kInvalidArgument,
              "metadata key '{}' has {} entries for {} tokens; convert the model again", key,
              length, tokens);
}

Status read_texts(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  CLVET_ASSIGN_OR_RETURN(const auto texts, metadata.strings("tokenizer.ggml.tokens"));
  if (texts.empty() || texts.size() > kMostTokens) {
    return fail(ErrorCode::kInvalidArgument,
                "the vocabulary has {} tokens, but must have 1 to {}; convert the model again",
                texts.size(), kMostTokens);
  }
  vocabulary.texts.assign(texts.begin(), texts.end());
  vocabulary.ids.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    vocabulary.ids.emplace(texts[i], static_cast<TokenId>(i));
  }
  return {};
}

Status read_kinds(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  constexpr const char* kKey = "tokenizer.ggml.token_type";
  vocabulary.kinds.assign(vocabulary.size(), TokenKind::kNormal);
  if (!metadata.has(kKey)) return {};
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> kinds, metadata.integers(kKey));
  if (kinds.size() != vocabulary.size()) return wrong_length(kKey, kinds.size(), vocabulary.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] < 1 || kinds[i] > 6) {
      return fail(ErrorCode::kInvalidArgument,
                  "token {} has the type {}, but must have 1 to 6; convert the model again", i,
                  kinds[i]);
    }
    vocabulary.kinds[i] = static_cast<TokenKind>(kinds[i]);
  }
  return {};
}

Status read_ids(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  for (const IdRow& row : kIdRows) {
    if (!metadata.has(row.key)) continue;
    CLVET_ASSIGN_OR_RETURN(
        const int64_t id,
        metadata.integer(row.key, 0, static_cast<int64_t>(vocabulary.size()) - 1));
    vocabulary.*row.id = static_cast<TokenId>(id);
  }
  return {};
}

Status read_flags(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  const bool spm = vocabulary.model == "llama";
  CLVET_ASSIGN_OR_RETURN(vocabulary.add_bos,
                         metadata.boolean_or("tokenizer.ggml.add_bos_token", spm));
  CLVET_ASSIGN_OR_RETURN(vocabulary.add_eos,
                         metadata.boolean_or("tokenizer.ggml.add_eos_token", false));
  CLVET_ASSIGN_OR_RETURN(vocabulary.space_prefix,
                         metadata.boolean_or("tokenizer.ggml.add_space_prefix", spm));
  if (vocabulary.bos == kNoToken && vocabulary.add_bos && spm)
    vocabulary.bos = vocabulary.find("<s>");
  for (const auto& [wanted, id, name] : {std::tuple(vocabulary.add_bos, vocabulary.bos, "bos"),
                                         std::tuple(vocabulary.add_eos, vocabulary.eos, "eos")}) {
    if (wanted && id == kNoToken) {
      return fail(ErrorCode::kInvalidArgument,
                  "the tokenizer adds a token '{}', but the metadata does not say which one it is; "
                  "convert the model again",
                  name);
    }
  }
  CLVET_ASSIGN_OR_RETURN(vocabulary.chat_template,
                         metadata.string_or("tokenizer.chat_template", {}));
  return {};
}

Status read_scores(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  constexpr const char* kKey = "tokenizer.ggml.scores";
  CLVET_ASSIGN_OR_RETURN(vocabulary.scores, metadata.numbers(kKey));
  if (vocabulary.scores.size() == vocabulary.size()) return {};
  return wrong_length(kKey, vocabulary.scores.size(), vocabulary.size());
}

}  // namespace

TokenId Vocabulary::find(std::string_view text) const {
  const auto found = ids.find(text);
  return found == ids.end() ? kNoToken : found->second;
}

Result<Vocabulary> read_vocabulary(const GgufMetadata& metadata) {
  Vocabulary vocabulary;
  CLVET_ASSIGN_OR_RETURN(vocabulary.model, metadata.string("tokenizer.ggml.model"));
  if (vocabulary.model != "gpt2" && vocabulary.model != "llama") {
    return fail(ErrorCode::kUnsupported,
                "clvet does not support the tokenizer '{}'; it supports gpt2 (byte-level BPE) and "
                "llama (SentencePiece)",
                one_line(vocabulary.model, 60));
  }
  CLVET_ASSIGN_OR_RETURN(vocabulary.pre, metadata.string_or("tokenizer.ggml.pre", {}));
  CLVET_RETURN_IF_ERROR(read_texts(metadata, vocabulary));
  CLVET_RETURN_IF_ERROR(read_kinds(metadata, vocabulary));
  CLVET_RETURN_IF_ERROR(read_ids(metadata, vocabulary));
  CLVET_RETURN_IF_ERROR(read_flags(metadata, vocabulary));
  if (vocabulary.model == "llama") {
    CLVET_RETURN_IF_ERROR(read_scores(metadata, vocabulary));
    return vocabulary;
  }
  CLVET_ASSIGN_OR_RETURN(const auto merges, metadata.strings("tokenizer.ggml.merges"));
  vocabulary.merges.assign(merges.begin(), merges.end());
  return vocabulary;
}

}  // namespace clvet
