// GridSample: of images and volumes. Positions are computed in float, as onnxruntime does.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_grid_sample {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape &x = call.shape(0), &grid = call.shape(1);
  if (x.size() != 4 && x.size() != 5) return bad_shape(call, 0);
  if (grid.size() != x.size() || grid[0] != x[0] ||
      grid.back() != static_cast<int64_t>(x.size()) - 2)
    return misfit(call, 0, 1);
  for (size_t i = 2; i < x.size(); ++i) {
    if (x[i] == 0) return bad_shape(call, 0);
  }
  Shape out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  return Types{{call.type(0).dtype, out}};
}

enum class Mode { kLinear, kNearest, kCubic };
enum class Padding { kZeros, kBorder, kReflection };  // in the order of the kernel's numbers

struct Sampler {
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align = false;

  // Where a tap reads; -1: zero.
  int64_t place(int64_t index, int64_t extent) const {
    if (index >= 0 && index < extent) return index;
    if (padding == Padding::kZeros) return -1;
    if (padding == Padding::kBorder || extent == 1)
      return std::clamp<int64_t>(index, 0, extent - 1);
    // Mirrored at the middles of the last elements, or at their far edges.
    const int64_t period = 2 * (align ? extent - 1 : extent);
    int64_t at = index % period;
    if (at < 0) at += period;
    if (at < extent) return at;
    return align ? period - at : period - 1 - at;
  }
};

struct Tap {
  int64_t index;
  double weight;
};

Sampler sampler_of(const OpCall& call) {
  const std::string mode = call.node.string_attr("mode", "linear");
  const std::string padding = call.node.string_attr("padding_mode", "zeros");
  Sampler s;
  if (mode == "nearest") s.mode = Mode::kNearest;
  if (mode == "cubic" || mode == "bicubic") s.mode = Mode::kCubic;
  if (padding == "border") s.padding = Padding::kBorder;
  if (padding == "reflection") s.padding = Padding::kReflection;
  s.align = call.node.int_attr("align_corners", 0) != 0;
  return s;
}

double cubic(double distance) {
  constexpr double kA = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
  return d < 2 ? ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA : 0;
}

// What a position in -1..1 reads along an axis.
template <class T>
void taps_of(const Sampler& s, T position, int64_t extent, std::vector<Tap>& taps) {
  constexpr T kFar = 1e6;  // elements beyond either end: all the same there
  const auto size = static_cast<T>(extent);
  T x = s.align ? (position + 1) / 2 * (size - 1) : ((position + 1) * size - 1) / 2;
  x = std::isnan(x) ? -kFar : std::clamp(x, -kFar, kFar + size);
  taps.clear();
  if (s.mode == Mode::kNearest) {
    taps.push_back({s.place(static_cast<int64_t>(std::nearbyint(x)), extent), 1});
    return;
  }
  const auto floor = static_cast<int64_t>(std::floor(x));
  const double part = static_cast<double>(x) - static_cast<double>(floor);
  if (s.mode == Mode::kLinear) {
    taps.push_back({s.place(floor, extent), 1 - part});
    taps.push_back({s.place(floor + 1, extent), part});
    return;
  }
  for (int64_t k = -1; k <= 2; ++k)
    taps.push_back({s.place(floor + k, extent), cubic(part - static_cast<double>(k))});
}

// All taps of a position in all axes, as offsets in a plane.
void combine(const std::vector<Tap>& along, int64_t stride, std::vector<Tap>& taps) {
  std::vector<Tap> made;
  for (const Tap& outer : taps) {
    for (const Tap& inner : along) {
      if (inner.index >= 0)
        made.push_back({outer.index + inner.index * stride, outer.weight * inner.weight});
    }
  }
  taps = std::move(made);
}

template <class T>
void run(const OpCall& call, Tensor& out) {
  const Shape& x = call.shape(0);
  const Sampler sampler = sampler_of(call);
  const size_t axes = x.size() - 2;
  const Shape plane(x.begin() + 2, x.end());
  const std::vector<int64_t> strides = strides_of(plane);
  const int64_t size = elements_of(plane), channels = x[1];
  const int64_t places = out.elements() / (x[0] * channels);
  constexpr int64_t kGrain = 256;
  parallel_for(x[0] * places, kGrain, [&](int64_t first, int64_t end) {
    std::vector<Tap> taps, along;
    for (int64_t at = first; at < end; ++at) {
      const T* position = call.tensor(1).data<T>() + at * static_cast<int64_t>(axes);
      taps.assign(1, {0, 1});
      for (size_t axis = 0; axis < axes; ++axis) {  // the last axis comes first in a position
        taps_of(sampler, position[axes - 1 - axis], plane[axis], along);
        combine(along, strides[axis], taps);
      }
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t image = at / places * channels + c;
        const T* from = call.tensor(0).data<T>() + image * size;
        double sum = 0;
        for (const Tap& tap : taps) sum += tap.weight * static_cast<double>(from[tap.index]);
        out.data<T>()[image * places + at % places] = static_cast<T>(sum);
      }
    }
  });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_floats(call.type(0).dtype, [&]<class T>() { run<T>(call, outputs[0]); });
}

// How many elements are weighed along an axis.
int64_t weighed_by(Mode mode) { return mode == Mode::kNearest ? 1 : mode == Mode::kLinear ? 2 : 4; }

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const Shape &x = call.shape(0), &grid = call.shape(1);
  const Sampler sampler = sampler_of(call);
  const bool deep = x.size() == 5;
  const View view = deep ? View::with_channels(1, x.size()) : View::kChannelsFirst;
  LoweredCall lowered;
  lowered.op = "grid_sample";
  put_nhwc(*view_of(x, view), lowered.dims);
  lowered.dims["N"] = x[0];
  lowered.dims["D"] = deep ? x[2] : 1;
  lowered.dims["OD"] = deep ? grid[1] : 1;
  lowered.dims["OH"] = grid[grid.size() - 3];
  lowered.dims["OW"] = grid[grid.size() - 2];
  lowered.dims["axes"] = grid.back();
  lowered.dims["taps"] = weighed_by(sampler.mode);
  lowered.dims["padding"] = static_cast<int64_t>(sampler.padding);
  lowered.dims["align"] = sampler.align ? 1 : 0;
  lowered.inputs = {{"x", 0, view}, {"grid", 1, View::kChannelsLast}};
  lowered.view = view;
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GridSample"},
    .since = 16,
    .inputs = "T T",
    .attributes =
        "align_corners:i mode:s=linear|bilinear|nearest|cubic|bicubic "
        "padding_mode:s=zeros|border|reflection",
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_grid_sample
