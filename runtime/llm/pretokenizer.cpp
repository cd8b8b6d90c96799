#include "runtime/llm/pretokenizer.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "base/text.h"

namespace clvet {
namespace {

// GPT-2: contractions; runs of letters, of digits, of other marks, each with one space before it;
// white space but for its last character where a word follows.
constexpr std::string_view kGpt2 =
    R"('(?:[stmd]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// Each digit by itself, before anything else.
constexpr std::string_view kDigits = R"(\p{N})";
// Qwen2: contractions in any case, letters with one mark before them, single digits, marks with the
// line breaks after them, line breaks with the white space before them.
constexpr std::string_view kQwen2 =
    R"('(?i:[stmd]|re|ve|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

struct PretokenizerRow {
  std::string_view name;
  std::array<std::string_view, 2> patterns;
};
constexpr PretokenizerRow kPretokenizers[] = {
    {"gpt-2", {kGpt2}},  {"default", {kGpt2}},           {"smollm", {kDigits, kGpt2}},
    {"qwen2", {kQwen2}}, {"deepseek-r1-qwen", {kQwen2}},
};

}  // namespace

std::string pretokenizer_names() {
  std::string names;
  for (const PretokenizerRow& row : kPretokenizers) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

Result<Pretokenizer> Pretokenizer::named(std::string_view name) {
  if (name.empty()) name = "default";
  for (const PretokenizerRow& row : kPretokenizers) {
    if (row.name != name) continue;
    Pretokenizer made;
    for (const std::string_view pattern : row.patterns) {
      if (pattern.empty()) continue;
      CLVET_ASSIGN_OR_RETURN(Regex step, Regex::compile(pattern));
      made.steps_.push_back(std::move(step));
    }
    return made;
  }
  return fail(ErrorCode::kUnsupported,
              "clvet does not support the pre-tokenizer '{}'; it supports {}", one_line(name, 60),
              pretokenizer_names());
}

Status Pretokenizer::split(std::string_view text, std::vector<std::string_view>& words) const {
  std::vector<std::string_view> pieces{text}, next;
  for (const Regex& step : steps_) {
    next.clear();
    for (const std::string_view piece : pieces) CLVET_RETURN_IF_ERROR(step.split(piece, next));
    pieces.swap(next);
  }
  words.insert(words.end(), pieces.begin(), pieces.end());
  return {};
}

}  // namespace clvet
