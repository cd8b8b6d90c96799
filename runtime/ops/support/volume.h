// Steps of a Conv over three axes.
#pragma once

#include <vector>

#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet {

// One convolution of planes: those that a window sees along the first axis lie side by side as
// channels. So what is convolved is as many times larger as the window has taps there; no steps for
// many.
std::vector<Term> volume(Steps& s, const SlidingWindow& window);

}  // namespace clvet
