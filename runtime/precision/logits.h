// Whether a language model's answers are right at low precision.
//
// At each position its logits must be finite, and its best token the reference's, where the
// reference prefers that by more than kMargin (runtime/llm/teacher_forced.h): closer decisions also
// change with the order of a sum, and published engines part there. Besides, the error of all
// logits of a text together must be within the target, as for the outputs of networks: a text may
// choose the same tokens though its probabilities, by which tokens are sampled, are off.
#pragma once

#include <limits>
#include <span>

#include "runtime/precision/deviation.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

class LogitsJudge {
 public:
  // Of the next position.
  void add(std::span<const float> logits, std::span<const float> reference);
  // Of a position whose logits would not be finite.
  void lose() { ++deviation_.lost; }
  // The error of a whole text that is still right, as a sum of squares.
  void allow(double squares) { allowed_ = squares; }
  // No later position can mend it.
  bool hopeless() const {
    return choices_.right < choices_.of || deviation_.lost > 0 || deviation_.squares > allowed_;
  }
  // Of all logits of the reference.
  double reference_squares() const { return reference_squares_; }
  // "logits".
  DiagnosedOutput output() const;

 private:
  Deviation deviation_;
  TokenChoices choices_;
  OutputSign sign_ = OutputSign::kNone;  // of all positions so far
  bool any_ = false;
  double reference_squares_ = 0, allowed_ = std::numeric_limits<double>::infinity();
};

}  // namespace clvet
