// Activations of the CPU path, in float32.
#pragma once

#include <cstdint>

#include "runtime/graph/graph.h"

namespace clvet {

// Each of `count` values replaced by the activation of it. NaN stays NaN. Sigmoid, Tanh, Silu and
// Exp are good to 4 ulp of the result, down to results that are subnormal; Gelu, of either form, to
// 4 + x * x ulp, as the last digits of what it gives to exp() grow with x.
void activate(const Activation& activation, float* values, int64_t count);

}  // namespace clvet
