// Finds the nodes of a model that low precision breaks, and the fewest to raise: what networks and
// language models have in common.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/watch.h"
#include "runtime/precision/wiring.h"

namespace clvet {

struct DiagnoseOptions {
  Policy policy = Policy::kEngine;
  NumberFormat format = NumberFormat::kHalf;
  // Of the root mean square of an output's error over that of the output. Real networks that half
  // serves well stay below 0.01, those that it breaks are beyond 0.1
  // (docs/diagnose.md has the figures).
  double target = 0.05;
  EventSink sink;
};

enum class Detail { kWhole, kWhetherRight };

// A model emulated at low precision, with the inputs that it is diagnosed with.
class DiagnosedModel {
 public:
  virtual ~DiagnosedModel() = default;
  virtual size_t inputs() const = 0;
  virtual std::vector<DiagnosedNode> nodes() const = 0;  // names and ops
  virtual const Wiring& wiring() const = 0;

  // What raising nodes costs; of choices without a part that cures, the plan has the least of it.
  virtual double cost(const Raised& raised, std::span<const DiagnosedNode> nodes);
  // What a run takes with nothing raised, with `raised`, and with all.
  virtual PlanTimes times(const Raised& raised, std::span<const DiagnosedNode> nodes);

  struct Look {
    DiagnosedInput input;  // judged with nothing raised; its ranges
    Seen seen;
  };
  // Comes once for each input, in order, before the others.
  virtual Result<Look> look(size_t input) = 0;
  // The input with these nodes raised. kWhetherRight: what is wrong may be found sooner, and tells
  // no more than that.
  virtual Result<DiagnosedInput> with(const Raised& raised, size_t input, Detail detail) = 0;
};

// Fills all but what PrecisionDiagnosis says of the model's file and of a device. An error behind
// the first input goes to PrecisionDiagnosis::stopped, and what was found until then stays.
Result<PrecisionDiagnosis> diagnose_model(DiagnosedModel& model, const DiagnoseOptions& options);

}  // namespace clvet
