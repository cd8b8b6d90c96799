#include "runtime/precision/blame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

ValueRange range_of(std::span<const float> values, NumberFormat format) {
  ValueRange range;
  range.add(values, format);
  return range;
}

// The input of which rounding alone has the largest effect, and that effect.
struct Worst {
  int input = -1;
  double part = 0;
};

Result<Worst> worst_of(const Suspect& suspect, bool constants) {
  Worst worst;
  for (size_t i = 0; i < suspect.inputs().size(); ++i) {
    const SeenValue& in = suspect.inputs()[i];
    if (in.name.empty() || in.constant != constants) continue;
    const int index = static_cast<int>(i);
    CLVET_ASSIGN_OR_RETURN(const double found, suspect.part(constants ? Rounded::constant(index)
                                                                      : Rounded::input(index)));
    if (found > worst.part) worst = {index, found};
  }
  return worst;
}

// Of a value that the format cannot hold; kRange where it can. Some small values are in many
// tensors and do no harm: `small` says whether they do here.
PrecisionFault fault_of(std::span<const float> values, NumberFormat format, bool small) {
  const ValueRange range = range_of(values, format);
  if (range.overflows > 0) return PrecisionFault::kOverflow;
  if (small && range.vanishes + range.subnormal > 0) return PrecisionFault::kUnderflow;
  if (has_large_integers(values, format)) return PrecisionFault::kInteger;
  return PrecisionFault::kRange;
}

double root_mean_square(std::span<const float> values) {
  double squares = 0;
  for (const float value : values)
    if (std::isfinite(value)) squares += static_cast<double>(value) * value;
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

// Sums whose terms are much larger than what is left of them.
bool cancels(const Suspect& suspect) {
  if (!suspect.adds()) return false;
  double largest = 0;
  for (const SeenValue& term : suspect.inputs())
    largest = std::max(largest, root_mean_square(term.values));
  return largest > 4 * root_mean_square(suspect.outputs().front().values);
}

void measure(const SeenValue& seen, NumberFormat format, Blame& blame) {
  const ValueRange range = range_of(seen.values, format);
  blame.value = seen.name;
  blame.largest = range.largest;
  blame.smallest = range.smallest;
}

// Most of them: weights have a few.
bool mostly_small(std::span<const float> values, NumberFormat format) {
  const ValueRange range = range_of(values, format);
  return 2 * (range.vanishes + range.subnormal) > range.count - range.zero;
}

Result<Blame> blame_read(const Suspect& suspect, const Worst& worst, FaultPlace place) {
  const SeenValue& read = suspect.inputs()[static_cast<size_t>(worst.input)];
  bool small = mostly_small(read.values, suspect.format());
  if (place == FaultPlace::kInput) {
    CLVET_ASSIGN_OR_RETURN(const double part, suspect.part_of_small(worst.input));
    small = part > worst.part / 2;
  }
  Blame blame;
  blame.place = place;
  blame.input = worst.input;
  measure(read, suspect.format(), blame);
  blame.fault = fault_of(read.values, suspect.format(), small);
  blame.lossy = blame.fault != PrecisionFault::kRange;
  if (!blame.lossy && cancels(suspect)) blame.fault = PrecisionFault::kCancellation;
  return blame;
}

Blame blame_output(const Suspect& suspect) {
  Blame blame;
  blame.fault = PrecisionFault::kArithmetic;
  for (const SeenValue& output : suspect.outputs()) {
    const PrecisionFault fault = fault_of(output.values, suspect.format(), true);
    if (fault == PrecisionFault::kRange) continue;
    blame.fault = fault;
    measure(output, suspect.format(), blame);
    break;
  }
  return blame;
}

Blame blame_inner(const Suspect& suspect, const SeenValue& inner) {
  Blame blame;
  blame.place = FaultPlace::kInside;
  blame.fault = fault_of(inner.values, suspect.format(), true);
  measure(inner, suspect.format(), blame);
  return blame;
}

}  // namespace

const char* to_string(PrecisionFault fault) {
  constexpr std::array<const char*, kPrecisionFaultCount> kWords = {
      "overflow", "underflow", "integer", "cancellation", "range", "arithmetic"};
  return kWords[static_cast<size_t>(fault)];
}

const char* to_string(FaultPlace place) {
  constexpr std::array<const char*, kFaultPlaceCount> kWords = {"constant", "input", "output",
                                                                "inside"};
  return kWords[static_cast<size_t>(place)];
}

double isolated_bound(NumberFormat format) { return std::ldexp(32, -limits_of(format).bits); }

Result<Blame> blame_of(const Suspect& suspect) {
  const double bound = isolated_bound(suspect.format());
  CLVET_ASSIGN_OR_RETURN(const double stored, suspect.part(Rounded::output()));
  if (stored > bound) return blame_output(suspect);
  if (const auto inner = suspect.inner()) {
    Rounded rounded = Rounded::nothing();
    rounded.inner = true;
    CLVET_ASSIGN_OR_RETURN(const double held, suspect.part(rounded));
    if (held > bound) return blame_inner(suspect, *inner);
  }
  CLVET_ASSIGN_OR_RETURN(const Worst constant, worst_of(suspect, true));
  CLVET_ASSIGN_OR_RETURN(const Worst input, worst_of(suspect, false));
  if (constant.input >= 0 && constant.part >= input.part)
    return blame_read(suspect, constant, FaultPlace::kConstant);
  if (input.input >= 0) return blame_read(suspect, input, FaultPlace::kInput);
  return blame_output(suspect);
}

}  // namespace clvet
