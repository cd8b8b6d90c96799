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

// y {N, OD, OH, OW, C} samples x {N, D, H, W, C} where grid {N, OD, OH, OW, axes} says: its
// channels are the positions across, down and, of 3 axes, deep, from -1 to 1; of 2, D and OD are 1.
// These are the middles of the outer elements where `align`, else their far edges. taps, elements
// that are weighed along an axis: 1 the nearest, a tie to even, 2 linear, 4 cubic. padding, beyond
// the edges: 0 zeros, 1 the edge, 2 the plane mirrored at the ends of positions. NaN lies far
// before the plane. Positions and sums are computed in float, and a nearest choice that hangs on
// less than their rounding is the device's.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "D", "H", "W", "C", "OD", "OH", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("grid_sample", dims, names));
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "axes", {2, 3}));
  if (dim(dims, "axes") == 2) {
    CLVET_RETURN_IF_ERROR(need_one_of(dims, "D", {1}));
    CLVET_RETURN_IF_ERROR(need_one_of(dims, "OD", {1}));
  }
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "taps", {kNearest, kLinear, kCubic}));
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "padding", {kZeros, kBorder, kReflection}));
  CLVET_RETURN_IF_ERROR(need_one_of(dims, "align", {0, 1}));
  TensorRole x = role_of(dims, "x", TensorKind::kInput);
  TensorRole y = role_of(dims, "y", TensorKind::kOutput, {"N", "OH", "OW", "C"});
  x.n *= dim(dims, "D");
  y.n *= dim(dims, "OD");
  TensorRole grid = y;
  grid.name = "grid";
  grid.kind = TensorKind::kInput;
  grid.c = dim(dims, "axes");
  return std::vector<TensorRole>{x, grid, y};
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
  size_t count = 0;
  std::array<int64_t, kMostTaps> places{};
  std::array<double, kMostTaps> weights{};
};

Samples samples_of(double at, const Axis& axis) {
  const double first = axis.taps == kNearest  ? std::nearbyint(at)
                       : axis.taps == kLinear ? std::floor(at)
                                              : std::floor(at) - 1;
  Samples samples;
  samples.count = static_cast<size_t>(axis.taps);
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

// What lies across, down and deep. A plane is one deep, and read there.
template <class T>
using Each = std::array<T, 3>;
using Position = Each<Element>;

// A volume of channel c of an image, whose channels lie last.
struct Volume {
  const double* values;
  Each<Axis> axes;
  size_t channels, c;

  double at(const Each<Samples>& samples) const {
    const auto& [across, down, deep] = samples;
    double sum = 0;
    for (size_t k = 0; k < deep.count; ++k) {
      for (size_t i = 0; i < down.count; ++i) {
        for (size_t j = 0; j < across.count; ++j) {
          if (deep.places[k] < 0 || down.places[i] < 0 || across.places[j] < 0) continue;
          const int64_t row = deep.places[k] * axes[1].extent + down.places[i];
          const auto place = static_cast<size_t>(row * axes[0].extent + across.places[j]);
          const double weight = deep.weights[k] * down.weights[i] * across.weights[j];
          sum += weight * values[place * channels + c];
        }
      }
    }
    return sum;
  }
  // With each element moved by that many of its errors.
  double at(const Position& position, const Each<double>& moved) const {
    Each<Samples> samples;
    for (size_t i = 0; i < samples.size(); ++i) {
      const double by = moved[i] * std::ldexp(position[i].error, -24);
      samples[i] = samples_of(position[i].at + by, axes[i]);
    }
    return at(samples);
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

// Of a sample in roundoffs: each of `n` axes' weights, times those of the others, and a rounding
// for each term, the products of its weights and its product.
double error_of(const Position& position, double n, int64_t taps) {
  const Weighing w = weighing_of(taps);
  if (taps == kNearest) return 0;
  const double errors = position[0].error + position[1].error + position[2].error;
  const double terms = std::pow(static_cast<double>(taps), n);
  return std::pow(w.size, n - 1) * (w.slope * errors + n * w.rounding) +
         std::pow(w.size, n) * (terms + n);
}

// Where an element may lie on either side of a tie, either neighbour is right: how far theirs are
// from what the reference chose, in roundoffs.
double doubt_of(const Volume& volume, const Position& position) {
  const double value = volume.at(position, {0, 0, 0});
  double doubt = 0;
  for (const double i : {-1, 1}) {
    for (const double j : {-1, 1}) {
      for (const double k : {-1, 1})
        doubt = std::max(doubt, std::fabs(volume.at(position, {i, j, k}) - value));
    }
  }
  return std::ldexp(doubt, 24);
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const auto n = static_cast<size_t>(dim(d, "axes"));
  const auto axis = [&](const char* extent, int64_t taps) {
    return Axis{dim(d, extent), taps, dim(d, "padding"), dim(d, "align") != 0};
  };
  const int64_t taps = dim(d, "taps");
  const Each<Axis> axes = {axis("W", taps), axis("H", taps), axis("D", n == 3 ? taps : kNearest)};
  const auto channels = static_cast<size_t>(dim(d, "C"));
  const auto positions = static_cast<size_t>(dim(d, "OD") * dim(d, "OH") * dim(d, "OW"));
  const auto elements = static_cast<size_t>(axes[0].extent * axes[1].extent * axes[2].extent);
  const Values& x = values.tensors.find("x")->second;
  const Values& grid = values.tensors.find("grid")->second;
  const double largest = largest_finite(x);
  ReferenceResult result;
  result.in_float = true;
  for (size_t i = 0; i < grid.size() / n; ++i) {
    Position position{};
    for (size_t k = 0; k < n; ++k) position[k] = element_of(grid[n * i + k], axes[k]);
    const double error = largest * error_of(position, static_cast<double>(n), taps);
    for (size_t c = 0; c < channels; ++c) {
      const Volume volume{x.data() + i / positions * elements * channels, axes, channels, c};
      result.value.push_back(volume.at(position, {0, 0, 0}));
      result.functions.push_back(taps == kNearest ? doubt_of(volume, position) : error);
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"grid_sample", roles, reference};

}  // namespace clvet::op_contract_grid_sample
