#include "runtime/ops/support/normalization.h"

#include <cmath>
#include <cstddef>

#include "kernels/contract.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

ChannelAffine batch_normalization_affine(const OpCall& call) {
  const double epsilon = call.node.float_attr("epsilon", 1e-5);
  const Values gamma = call.inputs[1].value->to_f64(), beta = call.inputs[2].value->to_f64(),
               mean = call.inputs[3].value->to_f64(), variance = call.inputs[4].value->to_f64();
  ChannelAffine affine;
  for (size_t c = 0; c < gamma.size(); ++c) {
    affine.scale.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    affine.shift.push_back(beta[c] - mean[c] * affine.scale[c]);
  }
  return affine;
}

}  // namespace clvet
