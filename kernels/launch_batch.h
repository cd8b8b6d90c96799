// How many launches of a kernel are timed one behind the other, in a trial as in a run.
#pragma once

#include <algorithm>

namespace clvet {

// `waited_ms`: of a launch that is waited for. 0 where that is so long that the wait is no part
// that counts; else about two milliseconds' worth, from 2 to 32.
inline int launches_in_batch(double waited_ms) {
  constexpr double kBatchMs = 2, kShortest = 1e-6;
  if (waited_ms > kBatchMs / 2) return 0;
  return static_cast<int>(std::clamp(kBatchMs / std::max(waited_ms, kShortest), 2.0, 32.0));
}

}  // namespace clvet
