// The JSON library, its most used templates compiled once (json.cpp) instead of in each source.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>  // IWYU pragma: export
#include <string>
#include <type_traits>
#include <utility>

namespace nlohmann {

// Integers out of documents. A number that has a fraction, or that the type cannot hold, is refused
// as a value of another type is; the library would cut it off, or do what C++ does not define.
template <class Int>
struct adl_serializer<Int,
                      std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>>> {
  template <class Json>
  static void to_json(Json& json, Int value) {
    ::nlohmann::to_json(json, value);
  }
  template <class Json>
  static void from_json(const Json& json, Int& value) {
    if (!holds(json)) {
      throw detail::type_error::create(302, "a whole number that is not too large was expected",
                                       &json);
    }
    ::nlohmann::from_json(json, value);
  }

 private:
  template <class Json>
  static bool holds(const Json& json) {
    if (json.is_number_unsigned())
      return std::in_range<Int>(*json.template get_ptr<const typename Json::number_unsigned_t*>());
    if (json.is_number_integer())
      return std::in_range<Int>(*json.template get_ptr<const typename Json::number_integer_t*>());
    if (!json.is_number_float()) return true;  // the library says what it is
    const double number = *json.template get_ptr<const typename Json::number_float_t*>();
    const double end = std::ldexp(1.0, std::numeric_limits<Int>::digits);
    return number == std::trunc(number) && number < end &&
           number >= (std::is_signed_v<Int> ? -end : 0);
  }
};

}  // namespace nlohmann

#if !JSON_DIAGNOSTICS  // another type of value, which few sources use
extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::iter_impl<const nlohmann::json>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
#endif
