// Whether an answer of a device can be right: beside the host's of the same inputs, or by itself.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// The largest |device - host| of one node that rounding explains, as a part of the largest |host|
// of the tensor. Both compute from the same inputs, so that errors of earlier nodes do not count.
//  - high: 2^-13. Sums of float32 in another order differ by 2^-24 * sqrt(n) * sqrt(sum t^2), with
//    n <= 2^16 terms that is 2^-16 of the largest partial sum; three bits are left for cancellation
//    and functions. What rounds to half by stealth (2^-12 of the largest value at least) is beyond.
//  - normal: 2^-6. Weights and results are rounded to half (2^-11 each).
//  - low: 2^-3. Partial sums are rounded to half as well: 2^-11 * sqrt(n).
// Where the model itself has tensors of float16 it is 2^-6 at least, of bfloat16 2^-5:
// StepAnswer::step.
// Beyond it, the bound of the kernel's own trials decides: StepAnswer::right_by_reference.
double rounding_part(Precision precision);

struct AnswerDifference {
  double most = 0, scale = 0;  // the largest |device - host|, the largest |host|
  double part = 0;             // one over the other
  bool not_finite = false;     // the device has NaN or infinities where the host has none
  bool beyond_half = false;    // a value of the host exceeds the range of half precision
};
AnswerDifference difference_of(const Tensor& device, const Tensor& host);

// What is wrong, and whose fault it is.
struct Fault {
  std::string variant;  // empty: the device's as a whole
  std::string node;     // the first one that it was seen at; empty: none
  Verdict verdict = Verdict::kWrong;
  Stage stage = Stage::kFinish;
  std::string evidence;
  bool range = false;  // values exceed the range of the precision: a higher one may be right
};

// Not the kernel, but that bytes went through what the driver maps.
void blame_maps(Fault& fault);
// Does so where `is_right` says no once more with these maps, and yes without.
void doubt_maps(Device& device, const std::function<bool()>& is_right, Fault& fault);

// Looks at each pair of Session::check() and keeps the first fault.
class FaultFinder {
 public:
  void look(const StepAnswer& answer);
  Checker checker() {
    return {[this](const StepAnswer& answer) { look(answer); }};
  }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  std::optional<Fault> fault_;
};

using Outputs = std::map<std::string, Tensor>;

// Why an output looks wrong by itself (output_sign.h). Empty: none does.
std::string suspicion_of(const Outputs& outputs);
// The same of an output that does not look so where the host computed all of it. Empty: there is
// none.
std::string refuted_suspicion(const Outputs& outputs, const Outputs& host);
// The same of logits: a model's are finite and not all alike.
std::string suspicion_of(std::span<const float> logits);
// Byte by byte.
bool same_outputs(const Outputs& one, const Outputs& other);
// Where two answers of one plan to the same inputs differ by more than their order of summing may
// make them; empty: nowhere.
std::string disagreement(const Outputs& one, const Outputs& other, Precision precision);

}  // namespace clvet
