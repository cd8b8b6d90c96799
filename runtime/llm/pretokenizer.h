// How byte-level BPE cuts text into words before it merges: patterns by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/regex.h"
#include "base/result.h"

namespace clvet {

class Pretokenizer {
 public:
  // By the name that files give in "tokenizer.ggml.pre"; none, "default" and "gpt-2" are GPT-2's.
  // kUnsupported names those that are known.
  static Result<Pretokenizer> named(std::string_view name);
  // Appends the words of `text`, which must be valid UTF-8; all of it in order. No Unicode
  // normalisation is applied, to words or before.
  Status split(std::string_view text, std::vector<std::string_view>& words) const;

 private:
  std::vector<Regex> steps_;  // each cuts the pieces of the one before it
};

// "smollm, qwen2, ...".
std::string pretokenizer_names();

}  // namespace clvet
