// Lowerings of the ops that only move elements: reshaping, transposing, slicing, repeating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"

namespace clvet {

// A stretch of a logical axis of the output, and how far one index of it reaches in the source.
struct MovedAxis {
  int64_t extent = 1;
  Step from;
  size_t axis = 0;  // of the output
};

// A call of the kernels op "move" that makes a tensor of `shape` under `view` from one of extents
// `x`. `axes` lie in the output's logical order, those of one logical axis outermost first; `start`
// is where the first element comes from. nullopt where the kernel has too few axes for it. The one
// input has the view kChannelsLast and index 0: the caller sets both.
std::optional<LoweredCall> move_call(const Nhwc& x, const Shape& shape, const View& view,
                                     std::span<const MovedAxis> axes, Step start);

// The same tensor under another view.
std::optional<LoweredCall> change_view(const Shape& shape, const View& from, const View& to);

// The same elements in row-major order under another shape, seen as kChannelsLast.
std::optional<LoweredCall> reshape_call(const Shape& from, const View& view, const Shape& to);

// Output 0 holds the elements of input 0 in row-major order: an alias where the bytes stay where
// they are, else a move.
Lowering lower_reshape(const OpCall& call, View preferred);
Status reshape_on_host(const OpCall& call, std::vector<Tensor>& outputs);
// Output axis i is input axis perm[i].
Lowering lower_transpose(const OpCall& call, const std::vector<int64_t>& perm, View preferred);

// One output element along an axis comes from start + i * step of the same axis of the input.
struct AxisRange {
  int64_t start = 0, step = 1;
};
// A call that cuts output `output` of `shape` out of input 0. Ranks are equal.
std::optional<LoweredCall> range_call(const OpCall& call, const View& view, const Shape& shape,
                                      std::span<const AxisRange> ranges, int output);
Lowering lower_range(const OpCall& call, View preferred, const Shape& shape,
                     std::span<const AxisRange> ranges);

inline constexpr const char* kTooManyAxes = "the elements move along too many axes at once";

}  // namespace clvet
