#include "runtime/llm/regex.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace clvet {

Result<Regex> Regex::compile(std::string_view pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
  if (!code) {
    return fail(ErrorCode::kInternal, "pattern '{}' is wrong at {} (PCRE2 error {})", pattern, at,
                error);
  }
  return Regex(std::shared_ptr<void>(
      code, [](void* pointer) { pcre2_code_free(static_cast<pcre2_code*>(pointer)); }));
}

Status Regex::split(std::string_view text, std::vector<std::string_view>& pieces) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  if (!match) return fail(ErrorCode::kResourceExhausted, "no memory to split text");
  size_t at = 0;
  while (at < text.size()) {
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                  PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      return fail(ErrorCode::kResourceExhausted,
                  "text of {} bytes cannot be split (PCRE2 error {}); give a shorter one",
                  text.size(), found);
    }
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
    if (bounds[0] > at) pieces.push_back(text.substr(at, bounds[0] - at));
    pieces.push_back(text.substr(bounds[0], bounds[1] - bounds[0]));
    at = bounds[1];
  }
  if (at < text.size()) pieces.push_back(text.substr(at));
  return {};
}

}  // namespace clvet
