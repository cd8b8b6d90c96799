#include "runtime/ops/support/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"

namespace clvet {
namespace {

// Beyond it the tables of positions would take more memory than any tensor.
constexpr int64_t kLongestAxis = int64_t{1} << 24;

struct Settings {
  std::string mode, nearest, transform, policy;
  double cubic_a = -0.75, extrapolation = 0;
  bool antialias = false, exclude_outside = false;
};

struct AxisRequest {
  int64_t in = 1, out = 1;
  float scale = 1;
  float roi_start = 0, roi_end = 1;
};

Result<std::vector<double>> reals(const OpCall& call, size_t input) {
  if (!call.has(input)) return std::vector<double>{};
  if (!call.inputs[input].value) {
    return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", input);
  }
  return call.inputs[input].value->to_f64();
}

Settings settings_of(const Node& node) {
  Settings s;
  s.mode = node.string_attr("mode", "nearest");
  if (s.mode == "bilinear") s.mode = "linear";
  s.nearest = node.string_attr("nearest_mode", "round_prefer_floor");
  const bool old = is_early_resize(node);
  s.transform =
      node.string_attr("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  if (old) s.nearest = "floor";
  s.policy = node.string_attr("keep_aspect_ratio_policy", "stretch");
  s.cubic_a = node.float_attr("cubic_coeff_a", -0.75);
  s.extrapolation = node.float_attr("extrapolation_value", 0);
  s.antialias = node.int_attr("antialias", 0) != 0;
  s.exclude_outside = node.int_attr("exclude_outside", 0) != 0;
  return s;
}

// The formulas of ONNX's Resize in float32, as PyTorch and onnxruntime compute them: a nearest
// index hangs on the last bit. Lengths of the output are whole.
float original_position(const Settings& s, const AxisRequest& r, int64_t at) {
  const auto x = static_cast<float>(at), in = static_cast<float>(r.in);
  const auto out = static_cast<float>(r.out);
  if (s.transform == "asymmetric") return x / r.scale;
  if (s.transform == "align_corners") return r.out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (s.transform == "pytorch_half_pixel") return r.out > 1 ? (x + 0.5F) / r.scale - 0.5F : 0;
  if (s.transform == "tf_half_pixel_for_nn") return (x + 0.5F) / r.scale;
  if (s.transform == "half_pixel_symmetric") {
    const float adjustment = out / (r.scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5F) / r.scale - 0.5F;
  }
  if (s.transform == "tf_crop_and_resize") {
    if (r.out == 1) return 0.5F * (r.roi_start + r.roi_end) * (in - 1);
    return r.roi_start * (in - 1) + x * (r.roi_end - r.roi_start) * (in - 1) / (out - 1);
  }
  return (x + 0.5F) / r.scale - 0.5F;
}

int64_t nearest_index(const Settings& s, double x) {
  if (s.nearest == "floor") return saturated<int64_t>(std::floor(x));
  if (s.nearest == "ceil") return saturated<int64_t>(std::ceil(x));
  if (s.nearest == "round_prefer_ceil") return saturated<int64_t>(std::floor(x + 0.5));
  return saturated<int64_t>(std::ceil(x - 0.5));
}

double filter(const Settings& s, double x) {
  x = std::fabs(x);
  if (s.mode == "linear") return std::max(0.0, 1 - x);
  const double a = s.cubic_a;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

std::vector<ResizeTap> taps_at(const Settings& s, const AxisRequest& r, double x) {
  const int64_t last = r.in - 1;
  if (s.mode == "nearest") return {{std::clamp<int64_t>(nearest_index(s, x), 0, last), 1}};
  const double shrink = s.antialias && r.scale < 1 ? r.scale : 1;
  const double reach = (s.mode == "linear" ? 1 : 2) / shrink;
  std::vector<ResizeTap> taps;
  double sum = 0;
  for (auto i = static_cast<int64_t>(std::floor(x - reach)); i <= std::ceil(x + reach); ++i) {
    double weight = filter(s, (static_cast<double>(i) - x) * shrink);
    if (s.exclude_outside && (i < 0 || i > last)) weight = 0;
    if (weight == 0) continue;
    sum += weight;
    taps.push_back({std::clamp<int64_t>(i, 0, last), weight});
  }
  if (shrink != 1 || s.exclude_outside) {
    for (ResizeTap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

ResizeAxis table(const Settings& s, const AxisRequest& r) {
  const bool crops = s.transform == "tf_crop_and_resize";
  ResizeAxis axis{r.in,    r.out,           r.scale == 1 && r.in == r.out && !crops,
                  r.scale, s.extrapolation, {}};
  if (axis.identity) return axis;
  for (int64_t i = 0; i < r.out; ++i) {
    const double x = original_position(s, r, i);
    const bool outside = crops && !(x >= 0 && x <= static_cast<double>(r.in - 1));
    axis.taps.push_back(outside ? std::vector<ResizeTap>{} : taps_at(s, r, x));
  }
  return axis;
}

Status keep_aspect(const Settings& s, const std::vector<int64_t>& axes,
                   std::vector<AxisRequest>& requests) {
  if (s.policy == "stretch") return {};
  float scale = requests[axes[0]].scale;
  for (const int64_t axis : axes) {
    const float own = requests[axis].scale;
    scale = s.policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (const int64_t axis : axes) {
    requests[axis].scale = scale;
    requests[axis].out =
        saturated<int64_t>(std::floor(scale * static_cast<float>(requests[axis].in) + 0.5F));
  }
  return {};
}

Result<std::vector<int64_t>> resized_axes(const OpCall& call) {
  std::vector<int64_t> axes(call.shape(0).size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (const auto* list = call.node.ints_attr("axes")) axes = *list;
  for (int64_t& axis : axes) {
    CLVET_ASSIGN_OR_RETURN(axis, normal_axis(axis, static_cast<int64_t>(call.shape(0).size())));
  }
  return axes;
}

// What the node says of `axes`, in their order: scales, or sizes where there are none.
struct Wanted {
  std::vector<int64_t> axes, sizes;
  std::vector<double> scales, roi;
};

Result<Wanted> wanted_of(const OpCall& call) {
  Wanted out;
  CLVET_ASSIGN_OR_RETURN(out.axes, resized_axes(call));
  const bool old = is_early_resize(call.node);
  CLVET_ASSIGN_OR_RETURN(out.scales, reals(call, old ? 1 : 2));
  const auto* list = call.node.floats_attr("scales");
  if (list && out.scales.empty()) out.scales = *list;
  CLVET_ASSIGN_OR_RETURN(out.roi, reals(call, old ? 9 : 1));
  if (call.has(3)) {
    CLVET_ASSIGN_OR_RETURN(out.sizes, call.integers(3));
  }
  const size_t count = out.scales.empty() ? out.sizes.size() : out.scales.size();
  if (count != out.axes.size() || out.axes.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{} of {} needs one scale or size for each axis, but has {} scales and {} sizes",
                call.node.op, to_string(call.shape(0)), out.scales.size(), out.sizes.size());
  }
  return out;
}

// Of wanted.axes[i].
Result<AxisRequest> request_of(const OpCall& call, const Settings& s, const Wanted& wanted,
                               size_t i) {
  AxisRequest r;
  r.in = call.shape(0)[wanted.axes[i]];
  const auto in = static_cast<float>(r.in);
  const bool sized = wanted.scales.empty();
  r.scale = sized ? static_cast<float>(wanted.sizes[i]) / in : static_cast<float>(wanted.scales[i]);
  if (!(r.scale > 0) || !(r.scale * in < 1e9F)) {
    return fail(ErrorCode::kInvalidArgument, "{} cannot scale an axis by {}", call.node.op,
                r.scale);
  }
  r.out = sized ? wanted.sizes[i] : static_cast<int64_t>(std::floor(r.scale * in));
  if (wanted.roi.size() != 2 * wanted.axes.size()) return r;
  r.roi_start = static_cast<float>(wanted.roi[i]);
  r.roi_end = static_cast<float>(wanted.roi[i + wanted.axes.size()]);
  if (s.transform == "tf_crop_and_resize" && !sized) {
    r.out = saturated<int64_t>(std::floor(in * (r.roi_end - r.roi_start) * r.scale));
  }
  return r;
}

Result<std::vector<AxisRequest>> requests_of(const OpCall& call, const Settings& s) {
  CLVET_ASSIGN_OR_RETURN(const Wanted wanted, wanted_of(call));
  std::vector<AxisRequest> requests;
  for (const int64_t extent : call.shape(0)) requests.push_back({extent, extent});
  for (size_t i = 0; i < wanted.axes.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(requests[wanted.axes[i]], request_of(call, s, wanted, i));
  }
  if (wanted.scales.empty()) CLVET_RETURN_IF_ERROR(keep_aspect(s, wanted.axes, requests));
  for (const AxisRequest& request : requests) {
    if (request.in < 1 || request.out < 1 || request.out > kLongestAxis) {
      return fail(ErrorCode::kInvalidArgument, "{} cannot resize an axis from {} to {}",
                  call.node.op, request.in, request.out);
    }
  }
  return requests;
}

}  // namespace

bool is_early_resize(const Node& node) { return node.op == "Upsample" || node.opset < 11; }

Result<Shape> resized_shape(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const auto requests, requests_of(call, settings_of(call.node)));
  Shape shape;
  for (const AxisRequest& request : requests) shape.push_back(request.out);
  return shape;
}

Result<ResizePlan> resize_plan(const OpCall& call) {
  const Settings settings = settings_of(call.node);
  CLVET_ASSIGN_OR_RETURN(const std::vector<AxisRequest> requests, requests_of(call, settings));
  ResizePlan plan;
  for (const AxisRequest& request : requests) plan.axes.push_back(table(settings, request));
  return plan;
}

}  // namespace clvet
