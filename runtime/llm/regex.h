// Unicode regular expressions (PCRE2), as far as tokenizers need them.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace clvet {

class Regex {
 public:
  // kInternal where the pattern is wrong: patterns are our own.
  static Result<Regex> compile(std::string_view pattern);

  // Appends `text`, which must be valid UTF-8, in pieces: each match that is not empty, and what
  // lies between matches. kResourceExhausted where PCRE2's limits are reached.
  Status split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  explicit Regex(std::shared_ptr<void> code) : code_(std::move(code)) {}
  std::shared_ptr<void> code_;
};

}  // namespace clvet
