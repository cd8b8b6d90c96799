// Steps that find the largest or least values along an axis.
#pragma once

#include <cstdint>

#include "runtime/ops/support/steps.h"

namespace clvet {

// More values than that have places which an f32 does not hold.
inline constexpr int64_t kLongestCounted = int64_t{1} << 24;

struct Extremes {
  Term ranks;  // of the shape of x: 0, or of what is extreme a number of 1 or more
  Term best;   // with extent 1 along the axis: the largest rank, extent - i of a place i, or i + 1
};
// The first of what is extreme has the best rank, or the last. NaN is before all numbers. The axis
// has at most kLongestCounted values.
Extremes extremes(Steps& s, const Term& x, int64_t axis, bool least, bool last);

}  // namespace clvet
