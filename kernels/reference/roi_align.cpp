#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"
#include "kernels/reference/largest.h"
#include "kernels/reference/places.h"

namespace clvet::op_contract_roi_align {
namespace {

constexpr double kMostSamples = 4096;
constexpr double kInf = std::numeric_limits<double>::infinity();

Status need_from_0(const Dims& dims, const char* name, int64_t last) {
  const int64_t value = dim_or(dims, name, -1);
  if (value >= 0 && value <= last) return {};
  return fail(ErrorCode::kInvalidArgument, "roi_align: {} = {} is not in the range 0 to {}", name,
              value, last);
}

// y {R, OH, OW, C}: each cell of region r is the largest (kind 0) or the mean (kind 1) of samples
// of image batch[r] of x {N, H, W, C}. A row of rois is left, top, right, bottom, times `scale` and
// less 0.5 where `half_pixel`; else a region is at least 1 wide and high. An axis of a cell has
// `ratio` samples at equal distances; where that is 0, as many as elements are in it, at most 4096.
// A region that is not finite has none. A sample is linear between its neighbours; farther than an
// element outside it is 0. The largest of samples is that of their four weighed neighbours. A
// number below 0 counts from the end; cells of an image that is not there are 0. Places and sums
// are computed in float; what hangs on less than their rounding is the device's.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "R", "OH", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("roi_align", dims, names));
  CLVET_RETURN_IF_ERROR(need_from_0(dims, "kind", 1));
  CLVET_RETURN_IF_ERROR(need_from_0(dims, "half_pixel", 1));
  CLVET_RETURN_IF_ERROR(need_from_0(dims, "ratio", static_cast<int64_t>(kMostSamples)));
  const int64_t regions = dim(dims, "R");
  return std::vector<TensorRole>{
      role_of(dims, "x", TensorKind::kInput),
      {.name = "rois", .kind = TensorKind::kInput, .w = regions, .c = 4, .in_float = true},
      {.name = "batch", .kind = TensorKind::kIndices, .c = regions, .extent = dim(dims, "N")},
      role_of(dims, "y", TensorKind::kOutput, {"R", "OH", "OW", "C"})};
}

// The samples of one axis of a region.
struct Axis {
  double start = 0, cell = 0, count = 0;
  bool exact = false;  // each of these is a float, and so is every step to it
  double error = 0;    // of another place, in roundoffs, beside those of the place itself
  double doubt = 0;    // how far the device's elements in a cell may be from `cell`

  double place(int64_t index, double sample) const {
    return start + static_cast<double>(index) * cell + (sample + 0.5) * cell / count;
  }
};

// Both ends round when they are scaled and moved, then their difference does. That is divided
// twice, by 5 roundoffs each, and multiplied and added up.
Axis axis_of(const CallValues& values, double low, double high, int64_t cells) {
  const bool half = dim(values.dims, "half_pixel") != 0;
  const auto ratio = static_cast<double>(dim(values.dims, "ratio"));
  const double scale = static_cast<float>(values.scalars.find("scale")->second);
  const double offset = half ? 0.5 : 0, n = static_cast<double>(cells);
  Axis axis;
  axis.start = low * scale - offset;
  double size = high * scale - offset - axis.start;
  if (!half) size = std::max(size, 1.0);
  if (!std::isfinite(axis.start) || !std::isfinite(size)) return axis;
  axis.cell = size / n;
  axis.count = ratio > 0 ? ratio : std::clamp(std::ceil(axis.cell), 0.0, kMostSamples);
  axis.error = 18 * (std::fabs(low * scale) + std::fabs(high * scale) + 1);
  const std::array steps = {low * scale,           high * scale, axis.start,
                            high * scale - offset, size,         axis.cell};
  axis.exact = std::ranges::all_of(steps, is_float);
  axis.doubt = ratio > 0 || axis.exact ? 0 : std::ldexp(axis.error / n, -24);
  return axis;
}

// The same with another number of samples, where that hangs on a rounding.
Axis doubted(Axis axis, double by) {
  if (axis.doubt > 0)
    axis.count = std::clamp(std::ceil(axis.cell + by * axis.doubt), 0.0, kMostSamples);
  return axis;
}

struct Spot {
  int64_t low = 0, high = 0;
  double weight = 0;  // of `high`
  bool inside = false, beside_the_edge = false;
  double error = 0;  // of the place, in roundoffs
};
Spot spot_of(const Axis& axis, double at, int64_t extent) {
  Spot spot;
  const auto size = static_cast<double>(extent);
  const bool exact = axis.exact && is_float(axis.cell / axis.count) && is_float(at);
  spot.error = exact ? 0 : axis.error + 3 * std::fabs(at);
  const double close = std::ldexp(spot.error, -24);
  spot.beside_the_edge = !exact && (std::fabs(at + 1) <= close || std::fabs(at - size) <= close);
  spot.inside = at >= -1 && at <= size;
  if (!spot.inside) return spot;
  at = std::max(at, 0.0);
  spot.low = std::min(static_cast<int64_t>(at), extent - 1);
  spot.high = std::min(spot.low + 1, extent - 1);
  spot.weight = spot.low == spot.high ? 0 : at - static_cast<double>(spot.low);
  return spot;
}

struct Plane {
  const double* values;
  int64_t h, w;
  size_t channels, c;
  bool largest;

  double at(int64_t y, int64_t x) const {
    return values[static_cast<size_t>(y * w + x) * channels + c];
  }
  // The sum of the four weighed neighbours, or the largest of them.
  double between(const Spot& y, const Spot& x) const {
    if (!y.inside || !x.inside) return 0;
    const double v = y.weight, u = x.weight;
    const std::array parts = {(1 - v) * (1 - u) * at(y.low, x.low), (1 - v) * u * at(y.low, x.high),
                              v * (1 - u) * at(y.high, x.low), v * u * at(y.high, x.high)};
    if (!largest) return (parts[0] + parts[1]) + (parts[2] + parts[3]);
    return larger(larger(parts[0], parts[1]), larger(parts[2], parts[3]));
  }
};

// A cell, the largest error of a place in it, its samples inside, and the share of those that may
// be outside or not.
struct Cell {
  double value = 0, error = 0, seen = 0, doubtful = 0;
};
Cell cell_of(const Plane& plane, const Axis& y, const Axis& x, int64_t i, int64_t j) {
  Cell cell;
  const double total = y.count * x.count;
  if (total == 0) return cell;
  cell.value = plane.largest ? -kInf : 0;
  for (double a = 0; a < y.count; ++a) {
    const Spot row = spot_of(y, y.place(i, a), plane.h);
    if (!row.inside && !row.beside_the_edge) {
      if (plane.largest) cell.value = larger(cell.value, 0.0);
      continue;
    }
    for (double b = 0; b < x.count; ++b) {
      const Spot column = spot_of(x, x.place(j, b), plane.w);
      const double sample = plane.between(row, column);
      cell.value = plane.largest ? larger(cell.value, sample) : cell.value + sample;
      if (row.inside && column.inside) {
        cell.error = std::max(cell.error, row.error + column.error);
        ++cell.seen;
      }
      if (row.beside_the_edge || column.beside_the_edge) ++cell.doubtful;
    }
  }
  if (!plane.largest) cell.value /= total;
  cell.doubtful = plane.largest ? std::min(cell.doubtful, 1.0) : cell.doubtful / total;
  return cell;
}

// In roundoffs: a place that is off by e moves a sample by at most 2 e of the largest value, which
// is also what a sample beside the edge may be. A sample rounds 8 times, each of n sums of samples
// by at most n of the largest value, and their mean by 5 roundoffs of it.
double error_of(const Plane& plane, const Axis& y, const Axis& x, int64_t i, int64_t j,
                double largest, const Cell& cell) {
  const double total = y.count * x.count;
  double doubt = 0;
  for (const double by : {-1, 1}) {
    const Axis rows = doubted(y, by), columns = doubted(x, by);
    if (rows.count == y.count && columns.count == x.count) continue;
    doubt = std::max(doubt, std::fabs(cell_of(plane, rows, columns, i, j).value - cell.value));
  }
  const double places = 2 * cell.error + 8;
  const double error =
      plane.largest ? places : cell.seen / std::max(total, 1.0) * (places + cell.seen + 5);
  return largest * error + std::ldexp(doubt + largest * cell.doubtful, 24);
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const int64_t images = dim(d, "N"), h = dim(d, "H"), w = dim(d, "W"), oh = dim(d, "OH"),
                ow = dim(d, "OW");
  const auto channels = static_cast<size_t>(dim(d, "C"));
  const Values& x = values.tensors.find("x")->second;
  const Values& rois = values.tensors.find("rois")->second;
  const Values& batch = values.tensors.find("batch")->second;
  const double largest = largest_finite(x);
  ReferenceResult result;
  result.in_float = true;
  for (size_t r = 0; r < batch.size(); ++r) {
    const double* roi = rois.data() + 4 * r;
    const Axis across = axis_of(values, roi[0], roi[2], ow),
               down = axis_of(values, roi[1], roi[3], oh);
    const double number = batch[r] < 0 ? batch[r] + static_cast<double>(images) : batch[r];
    const bool there = number >= 0 && number < static_cast<double>(images);
    const auto first =
        there ? static_cast<size_t>(number) * static_cast<size_t>(h * w) * channels : 0;
    for (int64_t i = 0; i < oh * ow; ++i) {
      for (size_t c = 0; c < channels; ++c) {
        const Plane plane{x.data() + first, h, w, channels, c, dim(d, "kind") == 0};
        const Cell cell = there ? cell_of(plane, down, across, i / ow, i % ow) : Cell{};
        result.value.push_back(cell.value);
        result.functions.push_back(
            there ? error_of(plane, down, across, i / ow, i % ow, largest, cell) : 0);
      }
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"roi_align", roles, reference};

}  // namespace clvet::op_contract_roi_align
