// The arithmetic of Resize.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

struct ResizeTap {
  int64_t index = 0;
  double weight = 1;
};

struct ResizeAxis {
  int64_t in = 1, out = 1;
  bool identity = true;
  double scale = 1;    // out over in, as the model says
  double outside = 0;  // value where a position has no taps (tf_crop_and_resize)
  std::vector<std::vector<ResizeTap>> taps;  // by output position; empty for an identity
};

struct ResizePlan {
  std::vector<ResizeAxis> axes;
};

// Upsample, and Resize before opset 11: scales come second, and coordinates are asymmetric.
bool is_early_resize(const Node& node);

// Of the output, without the tables of a plan. kUnavailable where sizes or scales are not known
// yet.
Result<Shape> resized_shape(const OpCall& call);
// The same errors.
Result<ResizePlan> resize_plan(const OpCall& call);

}  // namespace clvet
