// Is an output what the test expects?
#pragma once

#include <string>

#include "runtime/graph/tensor.h"

namespace clvet::conformance {

inline constexpr double kRelative = 1e-3, kAbsolute = 1e-5;

// Empty where type and shape are equal, integers and truth values are equal, and floats differ by
// no more than kAbsolute + kRelative * |expected| (NaN equals NaN, an infinity itself); else the
// first difference in words.
std::string difference(const Tensor& got, const Tensor& expected);

}  // namespace clvet::conformance
