// MaxPool (with its indices), AveragePool and LpPool.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/max_places.h"
#include "runtime/ops/support/max_pool.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet::op_pool {
namespace {

// Taps that are worth waking a thread.
constexpr int64_t kGrain = 10'000;

Result<SlidingWindow> window_for(const OpCall& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 3) {
    return fail(ErrorCode::kInvalidArgument, "{} does not take an input of the shape {}",
                call.node.op, to_string(shape));
  }
  if (!call.node.ints_attr("kernel_shape")) {
    return fail(ErrorCode::kInvalidArgument, "{} needs the attribute kernel_shape", call.node.op);
  }
  return window_of(call.node, shape, {});
}

int64_t degree_of(const OpCall& call) { return call.node.int_attr("p", 2); }

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const SlidingWindow window, window_for(call));
  const Shape shape = window.output_shape({call.shape(0)[0], call.shape(0)[1]});
  if (call.node.op == "LpPool") {
    if (degree_of(call) < 1) return bad_attribute(call, "p", degree_of(call));
    if (!is_float(call.type(0).dtype)) return bad_type(call, 0);
    return Types{{call.type(0).dtype, shape}};
  }
  return Types{{call.type(0).dtype, shape}, {DType::kI64, shape}};
}

// First and one-past-last tap inside [0, limit) of a window that begins at `start`.
struct Span {
  int64_t first, last;
};
Span inside(int64_t start, int64_t kernel, int64_t dilation, int64_t limit) {
  const int64_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const int64_t room = limit - start;
  const int64_t last = room <= 0 ? 0 : std::min(kernel, (room + dilation - 1) / dilation);
  return {std::min(first, kernel), std::max(last, std::min(first, kernel))};
}

// Calls fn(output index, start of the window, taps inside the input) for every output position.
template <class Fn>
void for_each_window(const SlidingWindow& w, Fn&& fn) {
  int64_t index = 0;
  Extent3 start;
  Span spans[3];
  for (int64_t z = 0; z < w.out[0]; ++z) {
    start[0] = z * w.stride[0] - w.pad_begin[0];
    spans[0] = inside(start[0], w.kernel[0], w.dilation[0], w.in[0]);
    for (int64_t y = 0; y < w.out[1]; ++y) {
      start[1] = y * w.stride[1] - w.pad_begin[1];
      spans[1] = inside(start[1], w.kernel[1], w.dilation[1], w.in[1]);
      for (int64_t x = 0; x < w.out[2]; ++x) {
        start[2] = x * w.stride[2] - w.pad_begin[2];
        spans[2] = inside(start[2], w.kernel[2], w.dilation[2], w.in[2]);
        fn(index++, start, spans);
      }
    }
  }
}

// Calls fn(offset in the plane) for every tap inside.
template <class Fn>
void for_each_tap(const SlidingWindow& w, const Extent3& start, const Span (&spans)[3], Fn&& fn) {
  for (int64_t kz = spans[0].first; kz < spans[0].last; ++kz) {
    const int64_t z = start[0] + kz * w.dilation[0];
    for (int64_t ky = spans[1].first; ky < spans[1].last; ++ky) {
      const int64_t row = (z * w.in[1] + start[1] + ky * w.dilation[1]) * w.in[2];
      for (int64_t kx = spans[2].first; kx < spans[2].last; ++kx) {
        fn(row + start[2] + kx * w.dilation[2]);
      }
    }
  }
}

// Whether x is a new largest value: a NaN is, and stays.
template <class T>
bool follows(T x, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return !std::isnan(best);
  }
  return x > best;
}

template <class T>
void max_plane(const SlidingWindow& w, const T* in, int64_t base, bool column_major, T* out,
               int64_t* indices) {
  for_each_window(w, [&](int64_t index, const Extent3& start, const Span(&spans)[3]) {
    T best = std::numeric_limits<T>::lowest();
    int64_t where = -1;
    for_each_tap(w, start, spans, [&](int64_t at) {
      if (where >= 0 && !follows(in[at], best)) return;
      best = in[at];
      where = at;
    });
    out[index] = best;
    if (!indices) return;
    const int64_t x = where % w.in[2], y = where / w.in[2] % w.in[1],
                  z = where / (w.in[2] * w.in[1]);
    indices[index] = base + (column_major ? (x * w.in[1] + y) * w.in[0] + z : where);
  });
}

template <class T>
void average_plane(const SlidingWindow& w, const T* in, bool include_pad, T* out) {
  for_each_window(w, [&](int64_t index, const Extent3& start, const Span(&spans)[3]) {
    double sum = 0;
    for_each_tap(w, start, spans, [&](int64_t at) { sum += static_cast<double>(in[at]); });
    int64_t count = 1;
    for (int i = 0; i < 3; ++i) {
      Span span = spans[i];
      if (include_pad) {
        span = inside(start[i] + w.pad_begin[i], w.kernel[i], w.dilation[i],
                      w.in[i] + w.pad_begin[i] + w.pad_end[i]);
      }
      count *= span.last - span.first;
    }
    out[index] = count ? static_cast<T>(sum / static_cast<double>(count)) : T{0};
  });
}

// The root of the sum of powers: padding counts as 0.
template <class T>
void norm_plane(const SlidingWindow& w, const T* in, double degree, T* out) {
  for_each_window(w, [&](int64_t index, const Extent3& start, const Span(&spans)[3]) {
    double sum = 0;
    for_each_tap(w, start, spans, [&](int64_t at) {
      sum += std::pow(std::fabs(static_cast<double>(in[at])), degree);
    });
    out[index] = static_cast<T>(std::pow(sum, 1 / degree));
  });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const SlidingWindow window, window_for(call));
  const bool norm = call.node.op == "LpPool";
  const auto degree = static_cast<double>(degree_of(call));
  const bool max = call.node.op == "MaxPool";
  const bool include_pad = call.node.int_attr("count_include_pad", 0) != 0;
  const bool column_major = call.node.int_attr("storage_order", 0) != 0;
  const int64_t planes = call.shape(0)[0] * call.shape(0)[1];
  int64_t* indices = call.node.outputs.size() > 1 ? outputs[1].data<int64_t>() : nullptr;
  if (max && !indices && call.type(0).dtype == DType::kF32 && each_window_sees(window)) {
    max_pool(window.compact(), planes, call.tensor(0).data<float>(), outputs[0].data<float>());
    return {};
  }
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    const T* in = call.tensor(0).data<T>();
    T* out = outputs[0].data<T>();
    const int64_t grain = 1 + kGrain / (window.out_size() * window.taps());
    parallel_for(planes, grain, [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p) {
        const int64_t from = p * window.in_size(), to = p * window.out_size();
        if (norm)
          norm_plane(window, in + from, degree, out + to);
        else if (max)
          max_plane(window, in + from, from, column_major, out + to,
                    indices ? indices + to : nullptr);
        else
          average_plane(window, in + from, include_pad, out + to);
      }
    });
  });
}

Lowering lower(const OpCall& call, View) {
  if (call.node.op == "LpPool") return no_kernel(call);
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  if (call.node.outputs.size() > 1) return host_only("its output of indices is used");
  const auto window = window_for(call);
  if (!window) return host_only(window.error().message);
  // Its largest value is then the lowest float, which half does not have.
  if (call.node.op == "MaxPool" && !each_window_sees(*window))
    return host_only("a window lies in the padding alone");
  LoweredCall lowered;
  if (!window_dims(*window, lowered.dims))
    return host_only("kernels support at most two spatial axes");
  lowered.op = "pool";
  lowered.dims["N"] = call.shape(0)[0];
  lowered.dims["C"] = call.shape(0)[1];
  lowered.dims["kind"] = call.node.op == "MaxPool" ? 0 : 1;
  lowered.dims["pad_bottom"] = window->pad_end[1];
  lowered.dims["pad_right"] = window->pad_end[2];
  lowered.dims["count_include_pad"] = call.node.int_attr("count_include_pad", 0);
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  return kernel_call(std::move(lowered));
}

// A pool of the window's axes `first` to `last` (of three), on [N, C, these axes].
Term pooled(Steps& s, const char* op, const Term& x, const SlidingWindow& w, size_t first,
            size_t last, bool counts_padding) {
  std::vector<int64_t> kernel, strides, dilations, pads;
  for (size_t i = first; i < last; ++i) {
    kernel.push_back(w.kernel[i]);
    strides.push_back(w.stride[i]);
    dilations.push_back(w.dilation[i]);
    pads.push_back(w.pad_begin[i]);
  }
  for (size_t i = first; i < last; ++i) pads.push_back(w.pad_end[i]);
  Attributes attributes{{"kernel_shape", kernel},
                        {"strides", strides},
                        {"dilations", dilations},
                        {"pads", pads},
                        {"ceil_mode", s.call().node.int_attr("ceil_mode", 0)}};
  if (std::string_view(op) == "AveragePool")
    attributes["count_include_pad"] = static_cast<int64_t>(counts_padding);
  return s.one(op, {x}, std::move(attributes));
}

// Of planes first, then of what that makes along the third axis: windows are boxes.
std::vector<Term> pooled_volume(Steps& s, const SlidingWindow& w) {
  const OpCall& call = s.call();
  const int64_t n = call.shape(0)[0], c = call.shape(0)[1];
  const bool counts = call.node.int_attr("count_include_pad", 0) != 0;
  const char* op = call.node.op == "MaxPool" ? "MaxPool" : "AveragePool";
  const Term planes = s.reshaped(s.input(0), {n, c * w.in[0], w.in[1], w.in[2]});
  const Term flat = pooled(s, op, planes, w, 1, 3, counts);
  SlidingWindow deep = w;
  deep.kernel[1] = deep.stride[1] = deep.dilation[1] = 1;
  deep.pad_begin[1] = deep.pad_end[1] = 0;
  const Term columns = s.reshaped(flat, {n, c, w.in[0], w.out[1] * w.out[2]});
  const Term y = pooled(s, op, columns, deep, 0, 2, counts);
  if (s.ok() && y.shape() != Shape{n, c, w.out[0], w.out[1] * w.out[2]}) return {};
  return {s.reshaped(y, w.output_shape({n, c}))};
}

// The root of the window's size times a mean of powers.
std::vector<Term> norm_steps(Steps& s, const SlidingWindow& w) {
  if (s.call().node.int_attr("ceil_mode", 0) != 0) return {};
  const auto degree = static_cast<double>(degree_of(s.call()));
  const auto first = static_cast<size_t>(3 - w.rank);
  const Term x = s.input(0), size = s.one("Abs", {x});
  const Term power = degree == 1   ? size
                     : degree == 2 ? s.one("Mul", {x, x})
                                   : s.one("Pow", {size, number(degree)});
  const Term mean = pooled(s, "AveragePool", power, w, first, 3, true);
  const Term sum = s.one("Mul", {mean, number(static_cast<double>(w.taps()))});
  if (degree == 1) return {sum};
  return {degree == 2 ? s.one("Sqrt", {sum}) : s.one("Pow", {sum, number(1 / degree)})};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto window = window_for(call);
  if (!window) return {};
  if (call.node.outputs.size() > 1) return largest_with_places(s, *window);
  if (call.node.op == "LpPool") return norm_steps(s, *window);
  return window->rank == 3 ? pooled_volume(s, *window) : std::vector<Term>{};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"MaxPool", "AveragePool", "LpPool"},
    .types = "fiu",
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID ceil_mode:i count_include_pad:i "
        "dilations:I kernel_shape:I p:i pads:I storage_order:i strides:I",
    .max_outputs = 2,
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_pool
