#pragma once

#include <cstdint>

namespace clvet {

// The least multiple of `unit` (> 0) not below `value` (>= 0).
constexpr int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace clvet
