// MaxPool of floats on the CPU, without indices.
#pragma once

#include <cstdint>

#include "runtime/ops/support/window.h"

namespace clvet {

// Whether every window sees a value: max_pool() gives -inf where one does not.
bool each_window_sees(const SlidingWindow& window);

// y = the largest that each window sees in each of `planes`; NaN where it sees one.
void max_pool(const SlidingWindow& window, int64_t planes, const float* x, float* y);

}  // namespace clvet
