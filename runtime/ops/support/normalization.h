// Per-channel affine maps.
#pragma once

#include "kernels/contract.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

struct ChannelAffine {
  Values scale, shift;  // by channel
};

// Of a BatchNormalization whose parameters are known.
ChannelAffine batch_normalization_affine(const OpCall& call);

}  // namespace clvet
