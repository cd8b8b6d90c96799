// Sound at another rate.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// `samples`: f32 [N]. Gives f32 [ceil(N * to / from)] without delay: its sample k is the sound at
// the time k / to. What is above half of either rate is removed. kInvalidArgument: a rate that is
// no number of 1 to 10^6, or rates more than a factor of 256 apart.
Result<Tensor> resample(const Tensor& samples, int64_t from, int64_t to);

}  // namespace clvet
