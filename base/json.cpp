#include "base/json.h"

#include <string>

template class nlohmann::basic_json<>;
template class nlohmann::detail::iter_impl<const nlohmann::json>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
