// Whether a network that fails at low precision would be right with smaller inputs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/precision/emulation.h"

namespace clvet {

struct CalibrationInput;
struct PrecisionDiagnosis;

// Values that networks are trained on are about 1 in size: 0 to 1, -1 to 1, or of variance 1, which
// stay below 6 but for one in 10^9. Those that nobody normalised are larger: a picture's go to 255,
// a sound's to 32768. Inputs beyond this are taken for such.
inline constexpr double kNormalised = 16;

enum class NormaliseHow {
  kDivide,       // x / divisor
  kCentre,       // (x - 127.5) / 127.5
  kStandardise,  // mean 0, variance 1
};
inline constexpr int kNormaliseHowCount = 3;
const char* to_string(NormaliseHow how);  // "divide", "centre", "standardise"

struct Normalisation {
  NormaliseHow how = NormaliseHow::kDivide;
  double divisor = 1;  // of kDivide
  // At low precision the outputs are those that float32 gives of the same values.
  bool right = false;
};

struct NormaliseTrials {
  std::vector<std::string> values;   // that were made smaller, all in the same way
  std::vector<Normalisation> tried;  // the usual ones first
  int inputs = 0;                    // of those that fail, with how many it was tried
};

// With the first inputs that fail. None: no float32 value of an input that fails is beyond
// kNormalised.
Result<std::optional<NormaliseTrials>> try_normalising(const Emulation& emulation,
                                                       std::span<const CalibrationInput> inputs,
                                                       const PrecisionDiagnosis& found);

}  // namespace clvet
