// Conv: one to three spatial axes, any group. Im2col and GEMM; depthwise directly.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/window.h"

namespace clvet::op_conv {
namespace {

constexpr int64_t kTileBytes = 1 << 20;

struct Problem {
  SlidingWindow window;
  int64_t n, c, oc, group;
  int64_t cg() const { return c / group; }
  int64_t ocg() const { return oc / group; }
  bool depthwise() const { return group == c && group > 1; }
  bool pointwise() const {
    return window.taps() == 1 && window.stride == Extent3{1, 1, 1} && window.in == window.out;
  }
};

Result<Problem> problem_of(const OpCall& call) {
  const Shape &x = call.shape(0), &w = call.shape(1);
  if (x.size() < 3 || x.size() != w.size()) {
    return fail(ErrorCode::kInvalidArgument, "Conv's input {} and weights {} do not fit together",
                to_string(x), to_string(w));
  }
  CLVET_ASSIGN_OR_RETURN(SlidingWindow window,
                         window_of(call.node, x, Shape(w.begin() + 2, w.end())));
  const Problem problem{window, x[0], x[1], w[0], call.node.int_attr("group", 1)};
  if (problem.group < 1 || problem.c % problem.group || problem.oc % problem.group ||
      w[1] != problem.cg()) {
    return fail(ErrorCode::kInvalidArgument,
                "Conv's input {} and weights {} do not fit together in {} groups", to_string(x),
                to_string(w), problem.group);
  }
  if (call.has(2) && call.shape(2) != Shape{problem.oc}) {
    return fail(ErrorCode::kInvalidArgument, "Conv's bias {} does not fit {} channels",
                to_string(call.shape(2)), problem.oc);
  }
  return problem;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem problem, problem_of(call));
  return Types{{call.type(0).dtype, problem.window.output_shape({problem.n, problem.oc})}};
}

void depthwise_plane(const SlidingWindow& window, const float* in, const float* weights,
                     float* out) {
  for (int64_t tap = 0; tap < window.taps(); ++tap) {
    const int64_t kx = tap % window.kernel[2], ky = tap / window.kernel[2] % window.kernel[1],
                  kz = tap / (window.kernel[2] * window.kernel[1]);
    const int64_t shift = kx * window.dilation[2] - window.pad_begin[2];
    const int64_t stride = window.stride[2];
    const int64_t first = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t room = window.in[2] - 1 - shift;
    const int64_t last = room < 0 ? 0 : std::min(window.out[2], room / stride + 1);
    for (int64_t z = 0; z < window.out[0]; ++z) {
      const int64_t iz = z * window.stride[0] - window.pad_begin[0] + kz * window.dilation[0];
      if (iz < 0 || iz >= window.in[0]) continue;
      for (int64_t y = 0; y < window.out[1]; ++y) {
        const int64_t iy = y * window.stride[1] - window.pad_begin[1] + ky * window.dilation[1];
        if (iy < 0 || iy >= window.in[1]) continue;
        const float* row = in + (iz * window.in[1] + iy) * window.in[2] + shift;
        float* target = out + (z * window.out[1] + y) * window.out[2];
        for (int64_t x = first; x < last; ++x) target[x] += weights[tap] * row[x * stride];
      }
    }
  }
}

void grouped(const Problem& p, const float* in, const float* weights, float* out) {
  const int64_t k = p.cg() * p.window.taps(), size = p.window.out_size();
  const MatrixView left{weights, p.ocg(), k, k};
  if (p.pointwise()) {
    gemm(left, {in, k, size, size}, out, size, true);
    return;
  }
  const int64_t tile = std::clamp<int64_t>(kTileBytes / 4 / std::max<int64_t>(k, 1), 64, size + 64);
  std::vector<float> matrix(static_cast<size_t>(k * std::min(tile, size)));
  for (int64_t first = 0; first < size; first += tile) {
    const int64_t columns = std::min(tile, size - first);
    im2col(p.window, in, p.cg(), first, columns, matrix.data());
    gemm(left, {matrix.data(), k, columns, columns}, out + first, size, true);
  }
}

void convolve_group(const Problem& p, const float* in, const float* weights, float* out) {
  if (!p.depthwise()) return grouped(p, in, weights, out);
  for (int64_t m = 0; m < p.ocg(); ++m) {
    depthwise_plane(p.window, in, weights + m * p.window.taps(), out + m * p.window.out_size());
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  const int64_t in_size = p.window.in_size(), out_size = p.window.out_size();
  const auto* x = call.tensor(0).data<float>();
  const auto* w = call.tensor(1).data<float>();
  const float* bias = call.has(2) ? call.tensor(2).data<float>() : nullptr;
  float* y = outputs[0].data<float>();
  if (outputs[0].elements() == 0) return {};
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t oc = 0; bias && oc < p.oc; ++oc) {
      std::fill_n(y + (n * p.oc + oc) * out_size, out_size, bias[oc]);
    }
    for (int64_t g = 0; g < p.group; ++g) {
      const float* in = x + (n * p.c + g * p.cg()) * in_size;
      float* out = y + (n * p.oc + g * p.ocg()) * out_size;
      const float* weights = w + g * p.ocg() * p.cg() * p.window.taps();
      convolve_group(p, in, weights, out);
    }
  }
  return {};
}

// OIHW as [tap][cin][cout].
Values dense_weights(const OpCall& call) {
  const Shape& shape = call.shape(1);
  const std::vector<double> w = call.inputs[1].value->to_f64();
  const int64_t oc = shape[0], ic = shape[1],
                taps = elements_of(shape) / std::max<int64_t>(oc * ic, 1);
  Values out(w.size());
  for (int64_t o = 0; o < oc; ++o) {
    for (int64_t i = 0; i < ic; ++i) {
      for (int64_t t = 0; t < taps; ++t) out[(t * ic + i) * oc + o] = w[(o * ic + i) * taps + t];
    }
  }
  return out;
}

Values bias_values(const OpCall& call) {
  if (call.has(2)) return call.inputs[2].value->to_f64();
  return Values(static_cast<size_t>(call.shape(1)[0]), 0.0);
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto problem = problem_of(call);
  if (!problem) return host_only(problem.error().message);
  if (!call.inputs[1].value || (call.has(2) && !call.inputs[2].value)) {
    return host_only("its weights are computed at run time");
  }
  LoweredCall lowered;
  if (!window_dims(problem->window, lowered.dims))
    return host_only("kernels support at most two spatial axes");
  const bool depthwise = problem->depthwise() && problem->oc == problem->c;
  lowered.op = depthwise ? "depthwise" : problem->group > 1 ? "conv2d_group" : "conv2d";
  if (problem->group > 1 && !depthwise) lowered.dims["G"] = problem->group;
  lowered.dims["N"] = problem->n;
  lowered.dims["C"] = problem->c;
  if (!depthwise) lowered.dims["OC"] = problem->oc;
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  lowered.constants = {{"w"}, {"bias"}};
  lowered.view = View::kChannelsFirst;
  return kernel_call(std::move(lowered));
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  return which.role == "w" ? dense_weights(call) : bias_values(call);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Conv"},
    .inputs = "T T T?",
    .types = "s",
    .wants_known = {1, 2},
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations:I group:i kernel_shape:I pads:I "
        "strides:I",
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_conv
