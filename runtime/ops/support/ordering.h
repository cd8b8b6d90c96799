// The order of numbers in ArgMax, TopK and Unique: NaN is above all, as in numpy.
#pragma once

#include <cmath>
#include <type_traits>

namespace clvet {

template <class T>
bool above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

}  // namespace clvet
