// Steps of a ConvTranspose over three axes.
#pragma once

#include <vector>

#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet {

// A transposed convolution of planes for each tap along the first axis, set apart by its stride and
// added up. No steps for groups, or for many taps.
std::vector<Term> transposed_volume(Steps& s, const SlidingWindow& window);

}  // namespace clvet
