// Whole numbers in text from outside.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace clvet {

// The number that `text` is, in decimal digits behind a minus sign at most; nothing where it is
// anything else, or does not fit.
inline std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

}  // namespace clvet
