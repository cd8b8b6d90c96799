// Activations of the CPU path, in float32.
#pragma once

#include <cstdint>

#include "runtime/graph/graph.h"

namespace clvet {

// Each of `count` values replaced by the activation of it. NaN stays NaN. Sigmoid, Tanh, Silu and
// Exp are good to 4 ulp of the result, down to results that are subnormal.
void activate(const Activation& activation, float* values, int64_t count);

}  // namespace clvet
