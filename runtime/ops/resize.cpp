// Resize (and Upsample): each axis has its own table of source positions and weights, applied one
// axis after the other.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/resize.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_resize {
namespace {

// Values that are worth waking a thread.
constexpr int64_t kGrain = 10'000;

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Shape shape, resized_shape(call));
  return Types{{call.type(0).dtype, shape}};
}

// The taps of an axis one behind the other; those of output i end at ends[i].
struct FlatTaps {
  std::vector<int64_t> index, ends;
  std::vector<double> weight;
  bool copies = true;  // each output is one input
};

FlatTaps flat_taps(const ResizeAxis& axis) {
  FlatTaps flat;
  for (const std::vector<ResizeTap>& taps : axis.taps) {
    for (const ResizeTap& tap : taps) {
      flat.index.push_back(tap.index);
      flat.weight.push_back(tap.weight);
    }
    flat.ends.push_back(static_cast<int64_t>(flat.index.size()));
    flat.copies &= taps.size() == 1 && taps[0].weight == 1;
  }
  return flat;
}

// A row along the axis: `inner` is 1.
template <class T>
void apply_along(const FlatTaps& flat, double outside, int64_t count, const T* from, T* to) {
  if (flat.copies) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[flat.index[i]];
    return;
  }
  int64_t tap = 0;
  for (int64_t i = 0; i < count; ++i) {
    double sum = tap == flat.ends[i] ? outside : 0;
    for (; tap < flat.ends[i]; ++tap)
      sum += flat.weight[tap] * static_cast<double>(from[flat.index[tap]]);
    to[i] = static_cast<T>(sum);
  }
}

// Rows across the axis; `sums` is room for one.
template <class T>
void apply_across(const ResizeAxis& axis, int64_t inner, const T* from, std::vector<double>& sums,
                  T* to) {
  sums.resize(static_cast<size_t>(inner));
  for (int64_t i = 0; i < axis.out; ++i, to += inner) {
    const std::vector<ResizeTap>& taps = axis.taps[i];
    if (taps.size() == 1 && taps[0].weight == 1) {
      std::copy_n(from + taps[0].index * inner, inner, to);
      continue;
    }
    std::fill(sums.begin(), sums.end(), taps.empty() ? axis.outside : 0.0);
    for (const ResizeTap& tap : taps) {
      const T* row = from + tap.index * inner;
      for (int64_t k = 0; k < inner; ++k) sums[k] += tap.weight * static_cast<double>(row[k]);
    }
    for (int64_t k = 0; k < inner; ++k) to[k] = static_cast<T>(sums[k]);
  }
}

template <class T>
void apply(const ResizeAxis& axis, const Tensor& in, int64_t index, Tensor& out) {
  const int64_t outer = elements_of(std::span(in.shape()).first(index));
  const int64_t inner = elements_of(std::span(in.shape()).subspan(index + 1));
  const FlatTaps flat = flat_taps(axis);
  parallel_for(outer, 1 + kGrain / (axis.out * inner), [&](int64_t first, int64_t end) {
    std::vector<double> sums;
    for (int64_t o = first; o < end; ++o) {
      const T* from = in.data<T>() + o * axis.in * inner;
      T* to = out.data<T>() + o * axis.out * inner;
      if (inner == 1)
        apply_along(flat, axis.outside, axis.out, from, to);
      else
        apply_across(axis, inner, from, sums, to);
    }
  });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const ResizePlan plan, resize_plan(call));
  // Integers are rounded once, at the end.
  const DType dtype = call.type(0).dtype;
  const bool floats = dtype == DType::kF32 || dtype == DType::kF64;
  const bool weighs = call.node.string_attr("mode", "nearest") != "nearest";
  Tensor current = call.tensor(0);
  if (!floats && weighs) {
    CLVET_ASSIGN_OR_RETURN(current, current.cast(DType::kF64));
  }
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    if (plan.axes[i].identity) continue;
    Shape shape = current.shape();
    shape[i] = plan.axes[i].out;
    CLVET_ASSIGN_OR_RETURN(Tensor next, Tensor::create(current.dtype(), shape));
    CLVET_RETURN_IF_ERROR(visit_numbers(current.dtype(), [&]<class T>() {
      apply<T>(plan.axes[i], current, static_cast<int64_t>(i), next);
    }));
    current = std::move(next);
  }
  if (current.dtype() == dtype) {
    outputs[0] = current;
    return {};
  }
  return visit_numbers(dtype, [&]<class T>() {
    map_unary<double, T>(current, outputs[0], [](double x) { return saturated<T>(x); });
  });
}

// A mode as the kernel for planes counts it.
struct PlaneMode {
  bool nearest = true;
  ptrdiff_t transform = 0, rounding = 0;
};

constexpr std::array<std::string_view, 4> kTransforms = {"asymmetric", "half_pixel",
                                                         "align_corners", "pytorch_half_pixel"};
constexpr std::array<std::string_view, 4> kRoundings = {"floor", "ceil", "round_prefer_floor",
                                                        "round_prefer_ceil"};

// nullopt where the kernel has no such mode.
std::optional<PlaneMode> plane_mode(const Node& node) {
  const auto place = [](const std::array<std::string_view, 4>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) - words.begin();
  };
  const bool old = is_early_resize(node);
  const std::string mode = node.string_attr("mode", "nearest");
  PlaneMode out;
  out.nearest = mode == "nearest";
  out.transform = place(kTransforms, node.string_attr("coordinate_transformation_mode",
                                                      old ? "asymmetric" : "half_pixel"));
  out.rounding =
      place(kRoundings, node.string_attr("nearest_mode", old ? "floor" : "round_prefer_floor"));
  if (out.transform == 4 || out.rounding == 4 || (!out.nearest && mode != "linear") ||
      node.int_attr("antialias", 0) || node.int_attr("exclude_outside", 0)) {
    return std::nullopt;
  }
  return out;
}

// Whole-number nearest, and linear, of planes.
bool suits_planes(const PlaneMode& mode, const std::vector<ResizeAxis>& axes) {
  if (axes.size() != 4 || !axes[0].identity || !axes[1].identity) return false;
  return !mode.nearest || (axes[2].out % axes[2].in == 0 && axes[3].out % axes[3].in == 0);
}

// nullopt where the kernel for planes does not do it.
std::optional<LoweredCall> plane_call(const OpCall& call, const ResizePlan& plan) {
  const auto mode = plane_mode(call.node);
  if (!mode || !suits_planes(*mode, plan.axes)) return std::nullopt;
  LoweredCall lowered;
  lowered.op = "resize";
  put_nhwc(*view_of(call.shape(0), View::kChannelsFirst), lowered.dims);
  lowered.dims["OH"] = plan.axes[2].out;
  lowered.dims["OW"] = plan.axes[3].out;
  lowered.dims["mode"] = mode->nearest ? 0 : 1;
  lowered.dims["transform"] = mode->transform;
  lowered.dims["rounding"] = mode->rounding;
  lowered.scalars["scale_h"] = plan.axes[2].scale;
  lowered.scalars["scale_w"] = plan.axes[3].scale;
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  return lowered;
}

// One axis of any mode as a product with the matrix [in][out] of its weights.
LoweredCall axis_call(const Shape& shape, size_t index, const ResizeAxis& axis) {
  const View view = View::with_channels(static_cast<int64_t>(index), shape.size());
  const Nhwc rows = *view_of(shape, view);
  LoweredCall lowered;
  lowered.op = "gemm";
  lowered.dims = {{"M", rows.rows()}, {"N", axis.out}, {"K", axis.in}, {"W", rows.w}};
  put_activation({}, lowered);
  lowered.inputs = {{"x", 0, view}};
  lowered.view = view;
  lowered.constants = {{"w", static_cast<int64_t>(index)}, {"bias", static_cast<int64_t>(index)}};
  return lowered;
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto plan = resize_plan(call);
  if (!plan) return host_only(plan.error().message);
  if (call.shape(0).size() > kMaxViewRank) return host_only("a tensor has too many axes");
  if (auto planes = plane_call(call, *plan)) return kernel_call(std::move(*planes));
  std::vector<LoweredCall> calls;
  Shape shape = call.shape(0);
  for (size_t i = 0; i < plan->axes.size(); ++i) {
    if (plan->axes[i].identity) continue;
    LoweredCall lowered = axis_call(shape, i, plan->axes[i]);
    if (!calls.empty()) lowered.inputs[0].input = -static_cast<int>(calls.size());
    shape[i] = plan->axes[i].out;
    lowered.output = kTemporary;
    lowered.temporary = shape;
    calls.push_back(std::move(lowered));
  }
  if (calls.empty()) {
    const View view = usable_view(shape, preferred);
    return lower_alias(view, view);
  }
  calls.back().output = 0;
  return kernel_calls(std::move(calls));
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  const ResizePlan plan = *resize_plan(call);
  const ResizeAxis& axis = plan.axes[static_cast<size_t>(which.part)];
  const bool matrix = which.role == "w";
  Values values(static_cast<size_t>(matrix ? axis.in * axis.out : axis.out), 0.0);
  for (int64_t o = 0; o < axis.out; ++o) {
    const auto& taps = axis.taps[static_cast<size_t>(o)];
    for (const ResizeTap& tap : taps) {
      if (matrix) values[static_cast<size_t>(tap.index * axis.out + o)] += tap.weight;
    }
    if (!matrix && taps.empty()) values[static_cast<size_t>(o)] = axis.outside;
  }
  return values;
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {{"Resize", 10}, "Upsample"},
    .since = 7,
    .inputs = "* f? f? l?",
    .attributes =
        "antialias:i axes:I "
        "coordinate_transformation_mode:s=half_pixel|half_pixel_symmetric|pytorch_half_pixel|"
        "align_corners|asymmetric|tf_crop_and_resize|tf_half_pixel_for_nn "
        "cubic_coeff_a:f exclude_outside:i extrapolation_value:f "
        "keep_aspect_ratio_policy:s=stretch|not_larger|not_smaller "
        "mode:s=nearest|linear|bilinear|cubic "
        "nearest_mode:s=round_prefer_floor|round_prefer_ceil|floor|ceil scales:F",
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_resize
