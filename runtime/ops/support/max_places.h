// Steps of a MaxPool whose second output, where each largest value lies, is used.
#pragma once

#include <vector>

#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet {

// Both outputs, of windows over one or two axes and no more than 64 taps; else no steps.
std::vector<Term> largest_with_places(Steps& s, const SlidingWindow& window);

}  // namespace clvet
