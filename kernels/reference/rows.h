// What the ops over rows share: M rows of C values, seen as an image of M / W lines of W pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet {

struct Rows {
  int64_t m, w, c;

  static Status check(std::string_view op, const Dims& dims) {
    constexpr std::array names = {"M", "W", "C"};
    CLVET_RETURN_IF_ERROR(need_positive(op, dims, names));
    if (dim(dims, "M") % dim(dims, "W") != 0) {
      return fail(ErrorCode::kInvalidArgument, "{}: M = {} is not a multiple of W = {}", op,
                  dim(dims, "M"), dim(dims, "W"));
    }
    return {};
  }

  explicit Rows(const Dims& d) : m(dim(d, "M")), w(dim(d, "W")), c(dim(d, "C")) {}

  TensorRole input() const {
    return {.name = "x", .kind = TensorKind::kInput, .h = m / w, .w = w, .c = c};
  }
  TensorRole output(int64_t channels) const {
    return {.name = "y", .kind = TensorKind::kOutput, .h = m / w, .w = w, .c = channels};
  }
};

// What the values are multiplied by: 1 over the root of their mean square and epsilon.
inline double rms_factor(std::span<const double> values, double epsilon) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return 1 / std::sqrt(squares / static_cast<double>(values.size()) + epsilon);
}

// Roundoffs of a value divided by the root of the mean square of n. The sum is of terms of one sign
// (see layer_norm.cpp): its walk is halved by the root; root, division and two products take up to
// 16.
inline double roundoffs_of_rms(double n) {
  return std::min(n + 3, 6 * std::sqrt(n / 3) + 3) / 2 + 16;
}

}  // namespace clvet
