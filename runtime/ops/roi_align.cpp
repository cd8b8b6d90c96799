// RoiAlign: the mean or the largest of samples in each cell of each region.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_roi_align {
namespace {

constexpr int kHalfPixel = 16;  // the opset whose default it is

Result<Types> infer(const OpCall& call) {
  const Shape &x = call.shape(0), &rois = call.shape(1);
  if (x.size() != 4) return bad_shape(call, 0);
  if (rois.size() != 2 || rois[1] != 4) return bad_shape(call, 1);
  if (call.shape(2) != Shape{rois[0]}) return misfit(call, 1, 2);
  const int64_t h = call.node.int_attr("output_height", 1),
                w = call.node.int_attr("output_width", 1),
                ratio = call.node.int_attr("sampling_ratio", 0);
  if (h < 1) return bad_attribute(call, "output_height", h);
  if (w < 1) return bad_attribute(call, "output_width", w);
  constexpr int64_t kMostSamples = 1024;
  if (ratio < 0 || ratio > kMostSamples) return bad_attribute(call, "sampling_ratio", ratio);
  return Types{{call.type(0).dtype, {rois[0], x[1], h, w}}};
}

// The samples of one axis of a region: in each of `cells` cells `count` at equal distances.
struct Axis {
  double start = 0, cell = 0;
  int64_t count = 0;
  double at(int64_t index, int64_t sample) const {
    return start + static_cast<double>(index) * cell +
           (static_cast<double>(sample) + 0.5) * cell / static_cast<double>(count);
  }
};

bool is_half_pixel(const Node& node) {
  return node.string_attr("coordinate_transformation_mode",
                          node.opset < kHalfPixel ? "output_half_pixel" : "half_pixel") ==
         "half_pixel";
}

Axis axis_of(const OpCall& call, double low, double high, int64_t cells) {
  const bool half = is_half_pixel(call.node);
  const double scale = call.node.float_attr("spatial_scale", 1), offset = half ? 0.5 : 0;
  Axis axis;
  axis.start = low * scale - offset;
  double size = high * scale - offset - axis.start;
  if (!half) size = std::max(size, 1.0);
  axis.cell = size / static_cast<double>(cells);
  const int64_t ratio = call.node.int_attr("sampling_ratio", 0);
  constexpr double kMost = 4096;
  axis.count =
      ratio > 0 ? ratio : static_cast<int64_t>(std::clamp(std::ceil(axis.cell), 0.0, kMost));
  if (!std::isfinite(axis.start) || !std::isfinite(size)) axis.count = 0;
  return axis;
}

struct Spot {
  int64_t low = 0, high = 0;
  double weight = 0;  // of `high`
  bool inside = false;
};
Spot spot_of(double at, int64_t extent) {
  if (!(at >= -1 && at <= static_cast<double>(extent))) return {};
  at = std::max(at, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(at), extent - 1);
  if (low == extent - 1) return {low, low, 0, true};
  return {low, low + 1, at - static_cast<double>(low), true};
}

// In the mode max, each of a sample's four weighted neighbours counts, as in onnxruntime. NaN
// stays.
struct Pool {
  bool largest;
  double value = 0;
  int64_t seen = 0;
  void take(double a, double b, double c, double d) {
    const double one = largest ? larger(larger(a, b), larger(c, d)) : a + b + c + d;
    value = !largest ? value + one : seen ? larger(value, one) : one;
    ++seen;
  }
};

template <class T>
double cell_of(const T* plane, int64_t h, int64_t w, const Axis& y, const Axis& x, int64_t i,
               int64_t j, bool largest) {
  Pool pool{largest};
  for (int64_t a = 0; a < y.count; ++a) {
    const Spot row = spot_of(y.at(i, a), h);
    for (int64_t b = 0; b < x.count; ++b) {
      const Spot column = spot_of(x.at(j, b), w);
      if (!row.inside || !column.inside) {
        pool.take(0, 0, 0, 0);
        continue;
      }
      const auto at = [&](int64_t r, int64_t c) { return static_cast<double>(plane[r * w + c]); };
      const double v = row.weight, u = column.weight;
      pool.take((1 - v) * (1 - u) * at(row.low, column.low), (1 - v) * u * at(row.low, column.high),
                v * (1 - u) * at(row.high, column.low), v * u * at(row.high, column.high));
    }
  }
  if (largest || pool.seen == 0) return pool.value;
  return pool.value / static_cast<double>(pool.seen);
}

template <class T>
void run(const OpCall& call, const std::vector<int64_t>& batches, Tensor& out) {
  const Shape& x = call.shape(0);
  const bool largest = call.node.string_attr("mode", "avg") == "max";
  const int64_t cells[2] = {out.dim(2), out.dim(3)};
  for (size_t r = 0; r < batches.size(); ++r) {
    const T* roi = call.tensor(1).data<T>() + r * 4;
    const Axis across =
        axis_of(call, static_cast<double>(roi[0]), static_cast<double>(roi[2]), cells[1]);
    const Axis down =
        axis_of(call, static_cast<double>(roi[1]), static_cast<double>(roi[3]), cells[0]);
    for (int64_t c = 0; c < x[1]; ++c) {
      const T* plane = call.tensor(0).data<T>() + (batches[r] * x[1] + c) * x[2] * x[3];
      T* y = out.data<T>() + (static_cast<int64_t>(r) * x[1] + c) * cells[0] * cells[1];
      for (int64_t i = 0; i < cells[0] * cells[1]; ++i) {
        y[i] = static_cast<T>(
            cell_of(plane, x[2], x[3], down, across, i / cells[1], i % cells[1], largest));
      }
    }
  }
}

// Below 0 counts from the end, as row numbers do on a device.
Result<std::vector<int64_t>> images_of(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(auto images, call.integers(2));
  const int64_t count = call.shape(0)[0];
  for (int64_t& image : images) {
    if (image < -count || image >= count) return index_outside(call);
    if (image < 0) image += count;
  }
  return images;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const auto batches, images_of(call));
  if (elements_of(call.shape(0)) == 0) return bad_shape(call, 0);
  return visit_floats(call.type(0).dtype, [&]<class T>() { run<T>(call, batches, outputs[0]); });
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const Node& node = call.node;
  LoweredCall lowered;
  lowered.op = "roi_align";
  put_nhwc(*view_of(call.shape(0), View::kChannelsFirst), lowered.dims);
  lowered.dims["R"] = call.shape(1)[0];
  lowered.dims["OH"] = node.int_attr("output_height", 1);
  lowered.dims["OW"] = node.int_attr("output_width", 1);
  lowered.dims["kind"] = node.string_attr("mode", "avg") == "max" ? 0 : 1;
  lowered.dims["ratio"] = node.int_attr("sampling_ratio", 0);
  lowered.dims["half_pixel"] = is_half_pixel(node) ? 1 : 0;
  lowered.scalars["scale"] = node.float_attr("spatial_scale", 1);
  lowered.inputs = {{"x", 0, View::kChannelsFirst},
                    {"rois", 1, View::kChannelsLast},
                    {"batch", 2, View::kChannelsLast}};
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"RoiAlign"},
    .since = 10,
    .inputs = "T T l",
    .row_numbers = 2,
    .attributes =
        "coordinate_transformation_mode:s=half_pixel|output_half_pixel mode:s=avg|max "
        "output_height:i output_width:i sampling_ratio:i spatial_scale:f",
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_roi_align
