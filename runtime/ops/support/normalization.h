// Normalised rows, and per-channel affine maps.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

struct ChannelAffine {
  Values scale, shift;  // by channel
};

// Of a BatchNormalization whose parameters are known.
ChannelAffine batch_normalization_affine(const OpCall& call);

inline constexpr double kNormEpsilon = 1e-5;  // what ONNX takes where there is none

// What a row is centred at and multiplied by, in float64.
struct Moments {
  double mean = 0, factor = 1;
};
// `rms`: by its mean square, not centred. `length` is at least 1.
template <class T>
Moments moments_of(const T* x, int64_t length, double epsilon, bool rms = false) {
  Moments m;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < length && !rms; ++i) sum += static_cast<double>(x[i]);
  m.mean = sum / static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i) {
    const double d = static_cast<double>(x[i]) - m.mean;
    squares += d * d;
  }
  m.factor = 1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
  return m;
}

// LayerNormalization and, of the mean square alone, RMSNormalization: over all axes from the
// attribute axis on, with input 1 as scale and input 2 as bias.
Result<std::vector<TensorType>> infer_row_norm(const OpCall& call);
Status row_norm_on_host(const OpCall& call, std::vector<Tensor>& outputs, bool rms);
Lowering lower_row_norm(const OpCall& call, bool rms);
Values row_norm_constant(const OpCall& call, const LoweredConstant& which);
std::vector<Term> row_norm_steps(Steps& s, bool rms);

// InstanceNormalization and GroupNormalization: input 0 [N,C,...] in `groups` groups of channels
// for each of N, with input 1 as scale and input 2 as bias of the channels, or of the groups.
Status channel_norm_on_host(const OpCall& call, int64_t groups, std::vector<Tensor>& outputs);
std::vector<Term> channel_norm_steps(Steps& s, int64_t groups);

}  // namespace clvet
