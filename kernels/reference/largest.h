// The size of the numbers that a reference computes from.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/contract.h"

namespace clvet {

// The largest of those that are finite, without its sign; 0 where there are none.
inline double largest_finite(const Values& values) {
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  }
  return largest;
}

}  // namespace clvet
