#include "kernels/tolerance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/combination.h"
#include "kernels/contract.h"

namespace clvet {
namespace {

// Unit roundoff of the arithmetic and what storing a result costs.
struct Format {
  double roundoff;      // 2^-11 for half arithmetic, 2^-24 for float
  int stored_fraction;  // explicit fraction bits of the storage type
  double min_normal;    // of the storage type
  double largest;       // finite value of the storage type
  Format(Precision precision, const ReferenceResult& of)
      : Format(precision == Precision::kLow && !of.in_float,
               stores_half(precision) && !of.stored_in_float) {}
  Format(bool computes_half, bool stores_half)
      : roundoff(std::ldexp(1.0, computes_half ? -11 : -24)),
        stored_fraction(stores_half ? 10 : 23),
        min_normal(std::ldexp(1.0, stores_half ? -14 : -126)),
        largest(stores_half ? 65504 : std::numeric_limits<float>::max()) {}

  // One unit in the last place of the storage type at `value`.
  double ulp(double value) const {
    const double magnitude = std::max(std::fabs(value), min_normal);
    if (!std::isfinite(magnitude)) return 0;
    // Its power of two alone; no magnitude here is below the least normal of double.
    const auto power = std::bit_cast<uint64_t>(magnitude) & uint64_t{0x7FF} << 52;
    return std::bit_cast<double>(power - (static_cast<uint64_t>(stored_fraction) << 52));
  }
};

// Error of z, the value before the activation. A reduction of n terms in any order: every one of
// its n - 1 additions rounds a partial sum by at most u of it. If terms have no preferred sign,
// partial sums walk like sqrt(i / n) * S with S = sqrt(sum t^2), so the rounding errors add up to
// an rms of u * S * sqrt(sum i / n) = u * S * sqrt(n / 2). Six of them are never met by chance.
// Three more u * S stand for the rounding of both operands and of each product. The worst case of
// all is (n + 3) * u * sum |t|, which is at most (n + 3) * u * sqrt(n) * S.
// `roundoffs` is roundoffs_of_sum(n).
double reduction_error(const Format& format, double sum_squares, double roundoffs) {
  return format.roundoff * std::sqrt(sum_squares) * roundoffs;
}

// `roundoffs`: of a sum of as many terms as the reference's.
double bound_of(const ReferenceResult& reference, const Format& format, double roundoffs,
                size_t i) {
  const double value = reference.value[i];
  if (!std::isfinite(value)) return 0;
  const double slope = reference.sensitivity.empty() ? 1 : reference.sensitivity[i];
  double bound = format.ulp(value);
  if (!reference.sum_squares.empty()) {
    bound += slope * reduction_error(format, reference.sum_squares[i], roundoffs);
  }
  if (!reference.functions.empty()) bound += format.roundoff * reference.functions[i];
  // A flushed subnormal operand moves y by at most slope * min_normal, a flushed result by itself.
  bound += std::max(slope * format.min_normal, std::min(std::fabs(value), format.min_normal));
  return std::isfinite(bound) ? bound : 0;
}

// A value beyond the storage type's range, or so close to its end that the bound reaches beyond.
bool overflow_matches(const Format& format, double want, double bound, double got) {
  if (std::fabs(want) + bound < format.largest) return false;
  return std::signbit(want) == std::signbit(got) &&
         (std::isinf(got) || std::fabs(got) == format.largest);
}

bool special_matches(const Format& format, double want, double bound, double got) {
  if (std::isnan(want)) return std::isnan(got);
  return overflow_matches(format, want, bound, got);
}

struct Element {
  size_t index;
  double got, want, bound;
};

void reject(const Element& element, Comparison& result) {
  if (result.first_bad < 0) {
    result.first_bad = static_cast<int64_t>(element.index);
    result.got = element.got;
    result.want = element.want;
  }
  ++result.bad;
  result.right = false;
}

void take_error(const Format& format, const Element& element, Comparison& result) {
  const double error = std::fabs(element.got - element.want), bound = element.bound;
  result.max_abs = std::max(result.max_abs, error);
  if (const double ulp = format.ulp(element.want); error > result.max_ulp * ulp)
    result.max_ulp = error / ulp;
  const double ratio = bound > 0 ? error / bound : (error > 0 ? HUGE_VAL : 0);
  if (ratio > result.worst_ratio || element.index == 0) {
    result.worst_ratio = std::max(ratio, result.worst_ratio);
    result.bound = bound;
  }
  if (ratio > 1) reject(element, result);
}

}  // namespace

double roundoffs_of_sum(double n) {
  const double walk = 6 * std::sqrt(n / 2) + 3;
  const double worst = (n + 3) * std::sqrt(n);
  return std::min(walk, worst);
}

Values error_bounds(const ReferenceResult& reference, Precision precision) {
  const Format format(precision, reference);
  const double roundoffs = roundoffs_of_sum(static_cast<double>(reference.reduction));
  Values bounds(reference.value.size());
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = bound_of(reference, format, roundoffs, i);
  return bounds;
}

Comparison compare(const ReferenceResult& reference, std::span<const double> device,
                   Precision precision) {
  const Format format(precision, reference);
  const double roundoffs = roundoffs_of_sum(static_cast<double>(reference.reduction));
  Comparison result;
  for (size_t i = 0; i < reference.value.size(); ++i) {
    const bool there = i < device.size();
    // The first one gives the bound where none is worse.
    if (i > 0 && there && device[i] == reference.value[i] && std::isfinite(device[i])) continue;
    const Element element{i, there ? device[i] : std::nan(""), reference.value[i],
                          bound_of(reference, format, roundoffs, i)};
    if (there && special_matches(format, element.want, element.bound, element.got)) continue;
    if (std::isfinite(element.want) && std::isfinite(element.got)) {
      take_error(format, element, result);
    } else {
      reject(element, result);
    }
  }
  return result;
}

}  // namespace clvet
