#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"
#include "kernels/reference/largest.h"
#include "kernels/reference/places.h"

namespace clvet::op_contract_grid_sample {
namespace {

enum Taps { kNearest = 1, kLinear = 2, kCubic = 4 };
enum Padding { kZeros, kBorder, kReflection };
constexpr size_t kMostTaps = 4;

Status need_one_of(const Dims& dims, const char* name, std::initializer_list<int64_t> codes) {
  const int64_t code = dim_or(dims, name, -1);
  if (std::ranges::find(codes, code) != codes.end()) return {};
  return fail(ErrorCode::kInvalidArgument, "grid_sample: there is no {} = {}", name, code);
}

// y {N, OH, OW, C} samples x {N, H, W, C} where grid {N, OH, OW, 2} says: its first channel is the
// position across, its second one down, from -1 to 1. These are the middles of the outer elements
// where `align`, else their far edges. taps, elements that are weighed along an axis: 1 the
// nearest, a tie to even, 2 linear, 4 cubic. padding, beyond the edges: 0 zeros, 1 the edge, 2 the
// plane mirrored at the ends of positions. NaN lies far before the plane. Positions and sums are
// computed in float, and a nearest choice that hangs on less than their rounding is the device's.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "OH", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("grid_sample", dims, names));
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "taps", {kNearest, kLinear, kCubic}));
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "padding", {kZeros, kBorder, kReflection}));
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "align", {0, 1}));
  TensorRole grid = role_of(dims, "grid", TensorKind::kInput, {"N", "OH", "OW", "C"});
  grid.c = 2;
  return std::vector<TensorRole>{role_of(dims, "x", TensorKind::kInput), grid,
                                 role_of(dims, "y", TensorKind::kOutput, {"N", "OH", "OW", "C"})};
}

// One axis of a call.
struct Axis {
  int64_t extent, taps, padding;
  bool align;

  // Where element `index` lies in the plane; -1: nowhere.
  int64_t place(int64_t index) const {
    const int64_t edge = std::clamp<int64_t>(index, 0, extent - 1);
    if (index == edge || padding == kBorder) return edge;
    if (padding == kZeros) return -1;
    const int64_t last = align ? extent - 1 : extent;
    if (last == 0) return 0;
    const int64_t period = 2 * last, folded = (index % period + period) % period;
    if (folded < extent) return folded;
    return align ? period - folded : period - 1 - folded;
  }
};

// An element with a fraction, and how far the device's own may be from it, in roundoffs.
struct Element {
  double at, error;
};

// Where every step is a float, the device has the same element; else each of three steps rounds.
Element element_of(double position, const Axis& axis) {
  constexpr double kFar = 1e6;
  const auto size = static_cast<double>(axis.extent);
  const double whole = position + 1, times = whole * (axis.align ? size - 1 : size);
  const double at = (axis.align ? times : times - 1) / 2;
  if (std::isnan(at)) return {-kFar, 0};
  const double kept = std::clamp(at, -kFar, kFar + size);
  const bool exact = is_float(whole) && is_float(times) && is_float(at);
  return {kept, exact || kept != at ? 0 : 3 * (std::fabs(at) + 1)};
}

double cubic(double distance) {
  const double d = std::fabs(distance);
  if (d <= 1) return (1.25 * d - 2.25) * d * d + 1;
  return ((-0.75 * d + 3.75) * d - 6) * d + 3;
}

struct Samples {
  std::array<int64_t, kMostTaps> places{};
  std::array<double, kMostTaps> weights{};
};

Samples samples_of(double at, const Axis& axis) {
  const double first = axis.taps == kNearest  ? std::nearbyint(at)
                       : axis.taps == kLinear ? std::floor(at)
                                              : std::floor(at) - 1;
  Samples samples;
  for (int64_t k = 0; k < axis.taps; ++k) {
    const double distance = at - first - static_cast<double>(k);
    const auto i = static_cast<size_t>(k);
    samples.places[i] = axis.place(static_cast<int64_t>(first) + k);
    samples.weights[i] = axis.taps == kNearest  ? 1
                         : axis.taps == kLinear ? 1 - std::fabs(distance)
                                                : cubic(distance);
  }
  return samples;
}

// A plane of channel c of an image, whose channels lie last.
struct Plane {
  const double* values;
  int64_t w;
  size_t channels, c;

  double at(const Samples& down, const Samples& across, int64_t taps) const {
    double sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(taps); ++i) {
      for (size_t j = 0; j < static_cast<size_t>(taps); ++j) {
        if (down.places[i] < 0 || across.places[j] < 0) continue;
        const auto place = static_cast<size_t>(down.places[i] * w + across.places[j]);
        sum += down.weights[i] * across.weights[j] * values[place * channels + c];
      }
    }
    return sum;
  }
};

// What bounds the error of a sum of weighed elements, the largest of which is 1: how far all
// weights of an axis together move as its element moves by 1, how they round, and the sum of their
// sizes. Cubic: their slopes are at most 1.35 and 0.75 twice each; the polynomials' terms are at
// most 6 and 1, with 6 roundings each; the sizes add up to 1.375 in the middle of two elements.
struct Weighing {
  double slope, rounding, size;
};
Weighing weighing_of(int64_t taps) {
  if (taps == kNearest) return {0, 0, 1};
  return taps == kLinear ? Weighing{2, 1, 1} : Weighing{4.2, 84, 1.375};
}

// Of a sample in roundoffs: each axis' weights, times those of the other, and a rounding for each
// term, the product of its weights and its product.
double error_of(const Element& across, const Element& down, int64_t taps) {
  const Weighing w = weighing_of(taps);
  if (taps == kNearest) return 0;
  const double weights = w.slope * (across.error + down.error) + 2 * w.rounding;
  return w.size * weights + w.size * w.size * static_cast<double>(taps * taps + 2);
}

// Where an element may lie on either side of a tie, either neighbour is right: how far theirs are
// from what the reference chose, in roundoffs.
double doubt_of(const Plane& plane, const Element& across, const Element& down, const Axis& x,
                const Axis& y) {
  const double value = plane.at(samples_of(down.at, y), samples_of(across.at, x), kNearest);
  double doubt = 0;
  for (const double i : {-1, 1}) {
    for (const double j : {-1, 1}) {
      const Samples rows = samples_of(down.at + i * std::ldexp(down.error, -24), y),
                    columns = samples_of(across.at + j * std::ldexp(across.error, -24), x);
      doubt = std::max(doubt, std::fabs(plane.at(rows, columns, kNearest) - value));
    }
  }
  return std::ldexp(doubt, 24);
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const int64_t taps = dim(d, "taps");
  const auto axis = [&](const char* extent) {
    return Axis{dim(d, extent), taps, dim(d, "padding"), dim(d, "align") != 0};
  };
  const Axis x_axis = axis("W"), y_axis = axis("H");
  const auto channels = static_cast<size_t>(dim(d, "C"));
  const int64_t positions = dim(d, "OH") * dim(d, "OW"), pixels = y_axis.extent * x_axis.extent;
  const Values& x = values.tensors.find("x")->second;
  const Values& grid = values.tensors.find("grid")->second;
  const double largest = largest_finite(x);
  ReferenceResult result;
  result.in_float = true;
  for (int64_t i = 0; i < dim(d, "N") * positions; ++i) {
    const auto at = static_cast<size_t>(2 * i);
    const Element across = element_of(grid[at], x_axis), down = element_of(grid[at + 1], y_axis);
    const Samples columns = samples_of(across.at, x_axis), rows = samples_of(down.at, y_axis);
    const double error = largest * error_of(across, down, taps);
    for (size_t c = 0; c < channels; ++c) {
      const Plane plane{x.data() + static_cast<size_t>(i / positions * pixels) * channels,
                        x_axis.extent, channels, c};
      result.value.push_back(plane.at(rows, columns, taps));
      result.functions.push_back(taps == kNearest ? doubt_of(plane, across, down, x_axis, y_axis)
                                                  : error);
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"grid_sample", roles, reference};

}  // namespace clvet::op_contract_grid_sample
