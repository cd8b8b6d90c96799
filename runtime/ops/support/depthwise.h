// Depthwise convolution on the CPU.
#pragma once

#include <cstdint>

#include "runtime/graph/graph.h"
#include "runtime/ops/support/window.h"

namespace clvet {

// Input, weights, bias (nullptr: none) and output of a convolution, as ONNX orders them.
struct ConvTensors {
  const float* x;
  const float* w;
  const float* bias;
  float* y;
};

struct DepthwiseSize {
  int64_t images, channels, multiplier;  // each channel makes `multiplier` output channels
};

// y = activation(convolution of each channel by its own weights + bias).
void depthwise(const SlidingWindow& window, const DepthwiseSize& size, const ConvTensors& tensors,
               const Activation& activation);

}  // namespace clvet
