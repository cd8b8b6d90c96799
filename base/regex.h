// Regular expressions (PCRE2): all of them but those of data are patterns of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace clvet {

class Regex {
 public:
  enum class Syntax {
    kUnicode,         // Perl's, over the characters of valid UTF-8
    kBytes,           // as ECMAScript's, over bytes
    kBytesOfAnyCase,  // the same, ASCII letters in either case
  };
  enum class Reach { kAnyPart, kWhole };

  // kInternal where the pattern is wrong; the message says where.
  static Result<Regex> compile(std::string_view pattern, Syntax syntax = Syntax::kUnicode);

  // All below: kResourceExhausted where one match takes more than PCRE2's steps, for bytes a tenth
  // of them. That takes a fraction of a second, whatever the pattern and the text.

  // Appends `text` in pieces: each match that is not empty, and what lies between matches.
  Status split(std::string_view text, std::vector<std::string_view>& pieces) const;

  // The first part of `text` that matches, or all of it, and then each group, empty for one that
  // took no part; nothing where there is no match.
  Result<std::vector<std::string_view>> parts(std::string_view text, Reach reach) const;

  // `text` with each match replaced by `by`, in which $1 is the first group.
  Result<std::string> replaced(std::string_view text, std::string_view by) const;

 private:
  struct Match;
  Regex(std::shared_ptr<void> code, bool bytes) : code_(std::move(code)), bytes_(bytes) {}
  Result<Match> new_match() const;
  // True where there is a match from `at` on.
  Result<bool> run(Match& match, std::string_view text, size_t at, uint32_t options) const;

  std::shared_ptr<void> code_;
  bool bytes_;
};

}  // namespace clvet
