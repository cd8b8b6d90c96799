#include "base/regex.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace clvet {
namespace {

constexpr uint32_t kStepsOverBytes = 1'000'000;
// A dollar is the end alone, as in ECMAScript; the pattern cannot choose another meaning of text.
constexpr uint32_t kOverBytes = PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_ALT_BSUX |
                                PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;

uint32_t options_of(Regex::Syntax syntax) {
  if (syntax == Regex::Syntax::kUnicode) return PCRE2_UTF | PCRE2_UCP;
  return syntax == Regex::Syntax::kBytes ? kOverBytes : kOverBytes | PCRE2_CASELESS;
}

const pcre2_code* code_in(const std::shared_ptr<void>& code) {
  return static_cast<const pcre2_code*>(code.get());
}

PCRE2_SPTR units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data() != nullptr ? text.data() : "");
}

Error no_memory() { return {ErrorCode::kResourceExhausted, "out of memory while matching a text"}; }

Error too_many_steps(std::string_view text, int error) {
  return {ErrorCode::kResourceExhausted,
          fmt::format(
              "matching a text of {} bytes takes too long (PCRE2 error {}); give a shorter text",
              text.size(), error)};
}

}  // namespace

struct Regex::Match {
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data;
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> limits;

  std::string_view part(std::string_view text, size_t group) const {
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data.get()) + 2 * group;
    if (bounds[0] == PCRE2_UNSET) return {};
    return text.substr(bounds[0], bounds[1] - bounds[0]);
  }
};

Result<Regex> Regex::compile(std::string_view pattern, Syntax syntax) {
  const bool bytes = syntax != Syntax::kUnicode;
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (!context) return tl::unexpected(no_memory());
  if (bytes) pcre2_set_newline(context.get(), PCRE2_NEWLINE_ANYCRLF);
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code =
      pcre2_compile(units(pattern), pattern.size(), options_of(syntax), &error, &at, context.get());
  if (!code) {
    return fail(ErrorCode::kInternal, "the pattern '{}' is wrong at character {} (PCRE2 error {})",
                pattern, at, error);
  }
  return Regex(std::shared_ptr<void>(
                   code, [](void* pointer) { pcre2_code_free(static_cast<pcre2_code*>(pointer)); }),
               bytes);
}

Result<Regex::Match> Regex::new_match() const {
  Match match{
      {pcre2_match_data_create_from_pattern(code_in(code_), nullptr), pcre2_match_data_free},
      {pcre2_match_context_create(nullptr), pcre2_match_context_free}};
  if (!match.data || !match.limits) return tl::unexpected(no_memory());
  if (bytes_) pcre2_set_match_limit(match.limits.get(), kStepsOverBytes);
  return match;
}

Result<bool> Regex::run(Match& match, std::string_view text, size_t at, uint32_t options) const {
  const int found = pcre2_match(code_in(code_), units(text), text.size(), at,
                                PCRE2_NO_UTF_CHECK | options, match.data.get(), match.limits.get());
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0) return tl::unexpected(too_many_steps(text, found));
  return true;
}

Status Regex::split(std::string_view text, std::vector<std::string_view>& pieces) const {
  CLVET_ASSIGN_OR_RETURN(Match match, new_match());
  size_t at = 0;
  while (at < text.size()) {
    CLVET_ASSIGN_OR_RETURN(const bool found, run(match, text, at, PCRE2_NOTEMPTY));
    if (!found) break;
    const std::string_view piece = match.part(text, 0);
    const auto start = static_cast<size_t>(piece.data() - text.data());
    if (start > at) pieces.push_back(text.substr(at, start - at));
    pieces.push_back(piece);
    at = start + piece.size();
  }
  if (at < text.size()) pieces.push_back(text.substr(at));
  return {};
}

Result<std::vector<std::string_view>> Regex::parts(std::string_view text, Reach reach) const {
  CLVET_ASSIGN_OR_RETURN(Match match, new_match());
  const uint32_t ends = reach == Reach::kWhole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0;
  CLVET_ASSIGN_OR_RETURN(const bool found, run(match, text, 0, ends));
  std::vector<std::string_view> parts;
  if (!found) return parts;
  const size_t groups = pcre2_get_ovector_count(match.data.get());
  for (size_t group = 0; group < groups; ++group) parts.push_back(match.part(text, group));
  return parts;
}

Result<std::string> Regex::replaced(std::string_view text, std::string_view by) const {
  constexpr uint32_t kOptions = PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY |
                                PCRE2_SUBSTITUTE_OVERFLOW_LENGTH | PCRE2_NO_UTF_CHECK;
  CLVET_ASSIGN_OR_RETURN(Match match, new_match());
  std::string out(text.size() + by.size() + 1, '\0');
  // A text that is too short says how long it must be, so that the second time it is not.
  for (;;) {
    PCRE2_SIZE size = out.size();
    const int done = pcre2_substitute(code_in(code_), units(text), text.size(), 0, kOptions,
                                      match.data.get(), match.limits.get(), units(by), by.size(),
                                      reinterpret_cast<PCRE2_UCHAR*>(out.data()), &size);
    if (done != PCRE2_ERROR_NOMEMORY || size <= out.size()) {
      if (done < 0) return tl::unexpected(too_many_steps(text, done));
      out.resize(size);
      return out;
    }
    out.resize(size);
  }
}

}  // namespace clvet
