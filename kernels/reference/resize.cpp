#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_resize {
namespace {

enum Mode { kNearest, kLinear };
enum Transform { kAsymmetric, kHalfPixel, kAlignCorners, kPytorchHalfPixel };
enum Rounding { kFloor, kCeil, kRoundPreferFloor, kRoundPreferCeil };

Status need_code(const Dims& dims, const char* name, int64_t last) {
  if (const int64_t code = dim_or(dims, name, -1); code < 0 || code > last) {
    return fail(ErrorCode::kInvalidArgument, "resize: {} = {} is not in the range 0 to {}", name,
                code, last);
  }
  return {};
}

// y {N, OH, OW, C} samples x {N, H, W, C}. mode: 0 nearest, 1 linear. transform, from output to
// input coordinate: 0 asymmetric o / scale, 1 half_pixel (o + 0.5) / scale - 0.5, 2 align_corners
// o * (in - 1) / (out - 1), 3 pytorch_half_pixel, as half_pixel but 0 where out is 1. rounding of
// nearest: 0 floor, 1 ceil, 2 round_prefer_floor, 3 round_prefer_ceil. Beyond the border lies the
// border. scale_h and scale_w are ONNX's, output over input; coordinates are computed in float, so
// a nearest choice that hangs on less than a float's rounding is the device's.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "OH", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("resize", dims, names));
  CLVET_RETURN_IF_ERROR(need_code(dims, "mode", kLinear));
  CLVET_RETURN_IF_ERROR(need_code(dims, "transform", kPytorchHalfPixel));
  CLVET_RETURN_IF_ERROR(need_code(dims, "rounding", kRoundPreferCeil));
  return std::vector<TensorRole>{role_of(dims, "x", TensorKind::kInput),
                                 role_of(dims, "y", TensorKind::kOutput, {"N", "OH", "OW", "C"})};
}

// One axis of a call.
struct Axis {
  int64_t mode, transform, rounding, in, out;
  double scale;

  double source(int64_t o) const {
    const auto at = static_cast<double>(o);
    if (transform == kAsymmetric) return at / scale;
    if (transform == kAlignCorners) {
      return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    }
    if (transform == kPytorchHalfPixel && out == 1) return 0;
    return (at + 0.5) / scale - 0.5;
  }

  int64_t inside(double at) const {
    return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(in - 1)));
  }
};

// The samples of one output position along an axis: two neighbours, the weight of the second, and
// the error of that weight in roundoffs (zero for nearest, which has the first alone).
struct Samples {
  int64_t first = 0, second = 0;
  double weight = 0, error = 0;
};

Samples samples_of(const Axis& axis, int64_t o) {
  const double at = axis.source(o);
  if (axis.mode == kNearest) {
    const double whole = axis.rounding == kFloor              ? std::floor(at)
                         : axis.rounding == kCeil             ? std::ceil(at)
                         : axis.rounding == kRoundPreferFloor ? std::ceil(at - 0.5)
                                                              : std::floor(at + 0.5);
    return {axis.inside(whole), axis.inside(whole), 0, 0};
  }
  const double low = std::floor(at);
  return {axis.inside(low), axis.inside(low + 1), at - low, 8 * (std::fabs(at) + 1)};
}

Axis axis_of(const CallValues& values, const char* in, const char* out, const char* scale) {
  const Dims& d = values.dims;
  return {dim(d, "mode"),     dim(d, "transform"),
          dim(d, "rounding"), dim(d, in),
          dim(d, out),        static_cast<float>(values.scalars.find(scale)->second)};
}

// An image with its channels last.
struct Image {
  const double* values;
  int64_t w;
  size_t channels;

  double at(int64_t y, int64_t x, size_t c) const {
    return values[static_cast<size_t>(y * w + x) * channels + c];
  }
  double between(const Samples& ys, const Samples& xs, size_t c) const {
    const double top = std::lerp(at(ys.first, xs.first, c), at(ys.first, xs.second, c), xs.weight);
    const double low =
        std::lerp(at(ys.second, xs.first, c), at(ys.second, xs.second, c), xs.weight);
    return std::lerp(top, low, ys.weight);
  }
};

// Linear: a weight that is off by e moves y by at most e times the difference of two neighbours,
// which is below twice the largest value; the two blends round at most 8 times.
ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const Axis down = axis_of(values, "H", "OH", "scale_h");
  const Axis across = axis_of(values, "W", "OW", "scale_w");
  const auto channels = static_cast<size_t>(dim(d, "C"));
  const Values& x = values.tensors.find("x")->second;
  double largest = 0;
  for (const double v : x) largest = std::max(largest, std::fabs(v));
  const double blends = down.mode == kLinear ? 8 * largest : 0;
  ReferenceResult result;
  result.in_float = true;
  for (int64_t pixel = 0; pixel < dim(d, "N") * down.out * across.out; ++pixel) {
    const int64_t n = pixel / (down.out * across.out);
    const auto first = static_cast<size_t>(n * down.in * across.in) * channels;
    const Image image{x.data() + first, across.in, channels};
    const Samples ys = samples_of(down, pixel / across.out % down.out);
    const Samples xs = samples_of(across, pixel % across.out);
    const double error = blends + 2 * largest * (ys.error + xs.error);
    for (size_t c = 0; c < channels; ++c) result.value.push_back(image.between(ys, xs, c));
    result.functions.insert(result.functions.end(), channels, error);
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"resize", roles, reference};

}  // namespace clvet::op_contract_resize
