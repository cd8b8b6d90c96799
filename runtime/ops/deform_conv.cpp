// DeformConv: a convolution whose taps are moved by offsets, between pixels too, and weighed by a
// mask.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/window.h"

namespace clvet::op_deform_conv {
namespace {

enum Input : size_t { kX, kW, kOffset, kB, kMask };
enum Axis : size_t { kY = 1, kXAxis = 2 };  // of a SlidingWindow

struct Problem {
  SlidingWindow window;
  int64_t batch = 0, channels = 0, filters = 0, groups = 1, offset_groups = 1;
  int64_t rows() const { return channels * window.taps(); }
};

Status check_shapes(const OpCall& call, const Problem& p) {
  const Shape &x = call.shape(kX), &w = call.shape(kW);
  if (p.groups < 1 || p.channels % p.groups || p.filters % p.groups)
    return bad_attribute(call, "group", p.groups);
  if (w[1] != p.channels / p.groups) return misfit(call, kX, kW);
  if (p.offset_groups < 1 || p.channels % p.offset_groups)
    return bad_attribute(call, "offset_group", p.offset_groups);
  const int64_t taps = p.offset_groups * p.window.taps(), oh = p.window.out[kY],
                ow = p.window.out[kXAxis];
  if (call.shape(kOffset) != Shape{x[0], 2 * taps, oh, ow}) return misfit(call, kX, kOffset);
  if (call.has(kMask) && call.shape(kMask) != Shape{x[0], taps, oh, ow})
    return misfit(call, kX, kMask);
  if (call.has(kB) && call.shape(kB) != Shape{p.filters}) return misfit(call, kW, kB);
  return {};
}

Result<Problem> problem_of(const OpCall& call) {
  const Shape &x = call.shape(kX), &w = call.shape(kW);
  if (x.size() != 4) return bad_shape(call, kX);
  if (w.size() != 4) return bad_shape(call, kW);
  Problem p;
  CLVET_ASSIGN_OR_RETURN(p.window, window_of(call.node, x, {w[2], w[3]}));
  if (p.window.kernel[kY] != w[2] || p.window.kernel[kXAxis] != w[3])
    return bad_attribute(call, "kernel_shape");
  p.batch = x[0];
  p.channels = x[1];
  p.filters = w[0];
  p.groups = call.node.int_attr("group", 1);
  p.offset_groups = call.node.int_attr("offset_group", 1);
  CLVET_RETURN_IF_ERROR(check_shapes(call, p));
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  return Types{{call.type(kX).dtype, p.window.output_shape({p.batch, p.filters})}};
}

// Between the four pixels around (y, x); those outside of the plane are 0.
float sample(const float* plane, int64_t height, int64_t width, float y, float x) {
  if (!(y > -1 && y < static_cast<float>(height) && x > -1 && x < static_cast<float>(width)))
    return 0;
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  const float down = y - static_cast<float>(top), right = x - static_cast<float>(left);
  const auto at = [&](int64_t row, int64_t column) {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? plane[row * width + column] : 0.f;
  };
  return (1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
         down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
}

// The row of `columns` that tap (ky, kx) of channel c of image n sees.
void fill_row(const OpCall& call, const Problem& p, int64_t n, int64_t c, int64_t tap, float* row) {
  const SlidingWindow& w = p.window;
  const int64_t group = c / (p.channels / p.offset_groups), size = w.out_size();
  const int64_t at = (n * p.offset_groups + group) * w.taps() + tap;
  const float* dy = call.tensor(kOffset).data<float>() + 2 * at * size;
  const float* mask = call.has(kMask) ? call.tensor(kMask).data<float>() + at * size : nullptr;
  const float* plane = call.tensor(kX).data<float>() + (n * p.channels + c) * w.in_size();
  const int64_t ky = tap / w.kernel[kXAxis], kx = tap % w.kernel[kXAxis];
  for (int64_t i = 0; i < size; ++i) {
    const int64_t oy = i / w.out[kXAxis], ox = i % w.out[kXAxis];
    const int64_t y = oy * w.stride[kY] - w.pad_begin[kY] + ky * w.dilation[kY];
    const int64_t x = ox * w.stride[kXAxis] - w.pad_begin[kXAxis] + kx * w.dilation[kXAxis];
    row[i] = sample(plane, w.in[kY], w.in[kXAxis], static_cast<float>(y) + dy[i],
                    static_cast<float>(x) + dy[size + i]) *
             (mask ? mask[i] : 1);
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  const int64_t size = p.window.out_size(), taps = p.window.taps();
  const int64_t depth = p.rows() / p.groups, filters = p.filters / p.groups;
  CLVET_ASSIGN_OR_RETURN(Tensor columns, Tensor::create(DType::kF32, {p.rows(), size}));
  float* out = outputs[0].data<float>();
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t row = 0; row < p.rows(); ++row)
      fill_row(call, p, n, row / taps, row % taps, columns.data<float>() + row * size);
    for (int64_t f = 0; f < p.filters; ++f) {
      const float bias = call.has(kB) ? call.tensor(kB).data<float>()[f] : 0;
      std::fill_n(out + (n * p.filters + f) * size, size, bias);
    }
    for (int64_t g = 0; g < p.groups && depth > 0; ++g) {
      gemm({call.tensor(kW).data<float>() + g * filters * depth, filters, depth, depth},
           {columns.data<float>() + g * depth * size, depth, size, size},
           out + (n * p.filters + g * filters) * size, size, true);
    }
  }
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"DeformConv"},
    .since = 19,
    .inputs = "T T T T? T?",
    .types = "s",
    .attributes = "dilations:I group:i kernel_shape:I offset_group:i pads:I strides:I",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_deform_conv
