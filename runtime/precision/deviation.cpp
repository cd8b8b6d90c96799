#include "runtime/precision/deviation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "base/widest.h"
#include "runtime/precision/parts.h"

namespace clvet {
namespace {

constexpr size_t kLanes = 8;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Ints = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));

constexpr int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;

// Sums that do not wait for each other.
struct Lanes {
  Doubles apart{}, squares{}, reference_squares{}, value_squares{}, products{};
  Ints compared{}, lost{};
};

// Values as their bits; where one of a pair is not finite, both count as 0.
inline __attribute__((always_inline)) void add(const Ints& values, const Ints& reference,
                                               Lanes& lanes) {
  const Ints known = (reference & kMagnitude) < kInfinity;
  const Ints both = known & ((values & kMagnitude) < kInfinity);
  lanes.lost -= known & ~both;
  lanes.compared -= both;
  const Doubles x = __builtin_convertvector((Floats)(reference & both), Doubles);
  const Doubles y = __builtin_convertvector((Floats)(values & both), Doubles);
  const Doubles apart = y - x;
  const Doubles size = apart < 0 ? -apart : apart;
  lanes.apart = size > lanes.apart ? size : lanes.apart;
  lanes.squares += apart * apart;
  lanes.reference_squares += x * x;
  lanes.value_squares += y * y;
  lanes.products += x * y;
}

CLVET_WIDEST void add_all(const float* values, const float* reference, size_t count, Lanes& sums) {
  Lanes lanes = sums;
  Ints left, right;
  for (; count >= kLanes; count -= kLanes, values += kLanes, reference += kLanes) {
    std::memcpy(&left, values, sizeof left);
    std::memcpy(&right, reference, sizeof right);
    add(left, right, lanes);
  }
  if (count > 0) {
    left = right = Ints{} + kInfinity;  // not compared
    std::memcpy(&left, values, count * sizeof(float));
    std::memcpy(&right, reference, count * sizeof(float));
    add(left, right, lanes);
  }
  sums = lanes;
}

Deviation deviation_of_part(std::span<const float> values, std::span<const float> reference) {
  Lanes lanes;
  add_all(values.data(), reference.data(), values.size(), lanes);
  Deviation sum;
  for (size_t i = 0; i < kLanes; ++i) {
    sum.compared += lanes.compared[i];
    sum.lost += lanes.lost[i];
    sum.most = std::max<double>(sum.most, static_cast<float>(lanes.apart[i]));
    sum.squares += lanes.squares[i];
    sum.reference_squares += lanes.reference_squares[i];
    sum.value_squares += lanes.value_squares[i];
    sum.products += lanes.products[i];
  }
  return sum;
}

}  // namespace

void Deviation::add(std::span<const float> values, std::span<const float> reference) {
  add(sum_of_parts<Deviation>(
      std::min(values.size(), reference.size()), [&](size_t first, size_t count) {
        return deviation_of_part(values.subspan(first, count), reference.subspan(first, count));
      }));
}

void Deviation::add(const Deviation& other) {
  compared += other.compared;
  lost += other.lost;
  most = std::max(most, other.most);
  squares += other.squares;
  reference_squares += other.reference_squares;
  value_squares += other.value_squares;
  products += other.products;
}

double Deviation::rms() const {
  return compared == 0 ? 0 : std::sqrt(squares / static_cast<double>(compared));
}

double Deviation::reference() const {
  return compared == 0 ? 0 : std::sqrt(reference_squares / static_cast<double>(compared));
}

double Deviation::part() const {
  if (lost > 0) return std::numeric_limits<double>::infinity();
  if (squares == 0) return 0;
  return std::sqrt(squares / reference_squares);
}

double Deviation::cosine() const {
  if (reference_squares == 0 && value_squares == 0) return 1;
  const double length = std::sqrt(reference_squares) * std::sqrt(value_squares);
  return length > 0 ? std::clamp(products / length, -1.0, 1.0) : 0;
}

double Deviation::snr_db() const { return -20 * std::log10(part()); }

}  // namespace clvet
