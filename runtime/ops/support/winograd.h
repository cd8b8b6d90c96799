// Convolutions by Winograd's F(2x2, 3x3) (kernels/winograd.h): a transform of the input, 16
// products and a transform of the output, in one launch or in three.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

// The part of the constant role "w" that holds the filters as the products want them.
inline constexpr int64_t kWinogradPart = 1;

// What is the same as `conv`, a call of conv2d: one call, and three that hand the tiles on. None
// where its window is not 3 x 3 of stride 1 and dilation 1, or where it has too few channels for
// its bound (kWinogradChannels).
std::vector<OtherCalls> winograd_ways(const LoweredCall& conv);

// G w G' of each filter: from [tap][channel][filter] to [product][channel][filter].
Values winograd_weights(const Values& weights);

}  // namespace clvet
