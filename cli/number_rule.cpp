#include "cli/number_rule.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "base/language.h"
#include "base/text.h"

namespace clvet {
namespace {

template <class T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

template <class T>
bool allows(const NumberRule& rule, T value) {
  if (rule.above_zero && !(value > 0)) return false;
  if (!rule.range) return true;
  return static_cast<double>(rule.range->first) <= static_cast<double>(value) &&
         static_cast<double>(value) <= static_cast<double>(rule.range->second);
}

std::string name_of(const NumberRule& rule, bool whole, bool below_zero) {
  if (rule.range) {
    const auto [least, greatest] = *rule.range;
    return whole ? tr("a whole number from {} to {}", least, greatest)
                 : tr("a number from {} to {}", least, greatest);
  }
  if (rule.seconds) return tr("a number of seconds above 0");
  if (rule.above_zero) return tr("a number above 0");
  if (!whole) return tr("a number");
  return below_zero ? tr("a whole number") : tr("a whole number of at least 0");
}

}  // namespace

template <class T>
std::string fault_of_number(const NumberRule& rule, std::string& value) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const std::optional<T> number = parsed<T>(value);
  if (!number || !allows(rule, *number))
    return tr("needs {}, not '{}'", name_of(rule, kWhole, std::is_signed_v<T>), one_line(value));
  if constexpr (kWhole) value = std::to_string(*number);
  return {};
}

template std::string fault_of_number<int>(const NumberRule&, std::string&);
template std::string fault_of_number<int64_t>(const NumberRule&, std::string&);
template std::string fault_of_number<uint64_t>(const NumberRule&, std::string&);
template std::string fault_of_number<double>(const NumberRule&, std::string&);

}  // namespace clvet
