// The JSON library, its most used templates compiled once (json.cpp) instead of in each source.
#pragma once

#include <nlohmann/json.hpp>  // IWYU pragma: export
#include <string>

#if !JSON_DIAGNOSTICS  // another type of value, which few sources use
extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::iter_impl<const nlohmann::json>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
#endif
