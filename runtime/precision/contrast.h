// How the values of inputs that fail differ from those of inputs that pass.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/precision/value_range.h"

namespace clvet {

struct DiagnosedInput;

// Of one value that the caller gives, or of a language model's residual stream.
struct RangeContrast {
  std::string value;
  ValueRange failing, passing;  // of all inputs that do
  // The largest |value| of an input: the least of those that fail, the most of those that pass.
  double least_failing = 0, most_passing = 0;
  // Each input that fails has a larger one than each that passes: the size tells which will fail.
  bool apart() const { return least_failing > most_passing; }
};

// By name; none where all inputs fail, or all pass. Values without float32 have no range.
std::vector<RangeContrast> contrasts_of(std::span<const DiagnosedInput> inputs);

}  // namespace clvet
