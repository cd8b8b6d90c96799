// ConvTranspose: GEMM and col2im.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/activation.h"
#include "runtime/host/gemm.h"
#include "runtime/host/matrix.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/transposed_volume.h"
#include "runtime/ops/support/window.h"

namespace clvet::op_conv_transpose {
namespace {

Result<SlidingWindow> check(const OpCall& call) {
  const Shape &x = call.shape(0), &w = call.shape(1);
  const int64_t group = call.node.int_attr("group", 1);
  if (x.size() < 3 || x.size() != w.size() || group < 1 || x[1] % group || x[1] != w[0]) {
    return fail(ErrorCode::kInvalidArgument,
                "ConvTranspose's input {} and weights {} do not fit together in {} groups",
                to_string(x), to_string(w), group);
  }
  if (call.has(2) && call.shape(2) != Shape{w[1] * group}) {
    return fail(ErrorCode::kInvalidArgument, "ConvTranspose's bias {} does not fit {} channels",
                to_string(call.shape(2)), w[1] * group);
  }
  return transposed_window_of(call.node, x, Shape(w.begin() + 2, w.end()));
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const SlidingWindow window, check(call));
  const int64_t channels = call.shape(1)[1] * call.node.int_attr("group", 1);
  return Types{{call.type(0).dtype, window.output_shape({call.shape(0)[0], channels})}};
}

// Values that are worth waking a thread.
constexpr int64_t kGrain = 20'000;

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const SlidingWindow window, check(call));
  const Tensor &x = call.tensor(0), &w = call.tensor(1);
  const int64_t group = call.node.int_attr("group", 1);
  const int64_t cg = x.dim(1) / group, ocg = w.dim(1), size = window.in_size();
  const int64_t rows = ocg * window.taps();
  const float* bias = call.has(2) ? call.tensor(2).data<float>() : nullptr;
  float* y = outputs[0].data<float>();
  std::vector<float> matrix(static_cast<size_t>(rows * size));
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t g = 0; g < group; ++g) {
      const MatrixView weights{w.data<float>() + g * cg * rows, rows, cg, rows, true};
      const MatrixView in{x.data<float>() + (n * group + g) * cg * size, cg, size, size};
      gemm(weights, in, matrix.data(), size, false);
      parallel_for(ocg, 1 + kGrain / (window.taps() * size), [&](int64_t first, int64_t end) {
        for (int64_t c = first; c < end; ++c) {
          float* plane = y + ((n * group + g) * ocg + c) * window.out_size();
          std::fill_n(plane, window.out_size(), bias ? bias[g * ocg + c] : 0.f);
          col2im(window, matrix.data() + c * window.taps() * size, 1, plane);
          activate(call.node.activation, plane, window.out_size());
        }
      });
    }
  }
  return {};
}

// [cin][cout][taps] as [tap][cin][cout].
Values weight_values(const OpCall& call) {
  const Shape& shape = call.shape(1);
  const std::vector<double> w = call.inputs[1].value->to_f64();
  const int64_t ic = shape[0], oc = shape[1],
                taps = elements_of(shape) / std::max<int64_t>(oc * ic, 1);
  Values out(w.size());
  for (int64_t i = 0; i < ic; ++i) {
    for (int64_t o = 0; o < oc; ++o) {
      for (int64_t t = 0; t < taps; ++t) out[(t * ic + i) * oc + o] = w[(i * oc + o) * taps + t];
    }
  }
  return out;
}

Values bias_values(const OpCall& call) {
  if (call.has(2)) return call.inputs[2].value->to_f64();
  return Values(static_cast<size_t>(call.shape(1)[1]), 0.0);
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto window = check(call);
  if (!window) return host_only(window.error().message);
  if (call.node.int_attr("group", 1) != 1)
    return host_only("no kernel computes a transposed convolution with groups");
  if (!call.inputs[1].value || (call.has(2) && !call.inputs[2].value)) {
    return host_only("its weights are computed at run time");
  }
  LoweredCall lowered;
  if (!window_dims(*window, lowered.dims))
    return host_only("kernels support at most two spatial axes");
  lowered.op = "conv_transpose";
  lowered.dims["N"] = call.shape(0)[0];
  lowered.dims["C"] = call.shape(0)[1];
  lowered.dims["OC"] = call.shape(1)[1];
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  lowered.constants = {{"w"}, {"bias"}};
  return kernel_call(std::move(lowered));
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  return which.role == "w" ? weight_values(call) : bias_values(call);
}

// A product for each group, or for each tap of a third axis.
std::vector<Term> steps(Steps& s) {
  constexpr int64_t kMostGroups = 16;
  const OpCall& call = s.call();
  const auto window = check(call);
  if (window && window->rank == 3) return transposed_volume(s, *window);
  const int64_t groups = call.node.int_attr("group", 1);
  if (groups < 2 || groups > kMostGroups) return {};
  const auto part_of = [&](size_t i, int64_t axis) {
    const std::vector<int64_t> extents(static_cast<size_t>(groups),
                                       call.shape(i)[static_cast<size_t>(axis)] / groups);
    return s.all("Split", {s.input(i), integers(extents)}, {{"axis", axis}}, extents.size());
  };
  const auto x = part_of(0, 1), w = part_of(1, 0);
  const auto bias = call.has(2) ? part_of(2, 0) : std::vector<Term>(x.size(), no_term());
  Attributes attributes = call.node.attributes;
  attributes["group"] = int64_t{1};
  std::vector<Term> parts;
  for (size_t i = 0; i < x.size(); ++i)
    parts.push_back(s.one("ConvTranspose", {x[i], w[i], bias[i]}, attributes));
  return {s.one("Concat", parts, {{"axis", int64_t{1}}})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ConvTranspose"},
    .inputs = "T T T?",
    .types = "s",
    .wants_known = {1, 2},
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations:I group:i kernel_shape:I "
        "output_padding:I output_shape:I pads:I strides:I",
    .activates = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
    .constant = constant,
};

}  // namespace clvet::op_conv_transpose
