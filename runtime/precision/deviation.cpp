#include "runtime/precision/deviation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace clvet {

void Deviation::add(std::span<const float> values, std::span<const float> reference) {
  double d2 = 0, r2 = 0, v2 = 0, rv = 0;
  float largest = 0;
  int64_t used = 0, gone = 0;
  const size_t count = std::min(values.size(), reference.size());
  for (size_t i = 0; i < count; ++i) {
    const float r = reference[i], v = values[i];
    const bool known = std::fabs(r) < INFINITY, kept = std::fabs(v) < INFINITY;
    const bool both = known && kept;
    gone += known && !kept;
    used += both;
    const double x = both ? r : 0, y = both ? v : 0;
    const auto apart = static_cast<float>(std::fabs(y - x));
    largest = apart > largest ? apart : largest;
    d2 += (y - x) * (y - x);
    r2 += x * x;
    v2 += y * y;
    rv += x * y;
  }
  compared += used;
  lost += gone;
  most = std::max<double>(most, largest);
  squares += d2;
  reference_squares += r2;
  value_squares += v2;
  products += rv;
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
