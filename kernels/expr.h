// Integer expressions of manifests: sizes, arguments and conditions over dims and parameters.
//
//   + - * / %   == != < <= > >=   && || !   c ? a : b   ( )   decimal integers, names
//   ceil_div(a, b)   round_up(a, b)   min(a, b)   max(a, b)
//
// Conditions are 0 or 1; the side that is not taken is parsed and not evaluated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {

using ExprLookup = std::function<std::optional<int64_t>(std::string_view name)>;

// kInvalidArgument: a syntax error, an unknown name (which the message gives) or a division by
// zero.
Result<int64_t> evaluate_expr(std::string_view text, const ExprLookup& lookup);

// The names that the expression refers to, in order of appearance, without functions.
Result<std::vector<std::string>> expr_names(std::string_view text);

}  // namespace clvet
