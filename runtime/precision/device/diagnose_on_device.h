// Finds the nodes of a network that low precision breaks on a device, and the fewest to raise
// there.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

struct DeviceDiagnosis {
  PrecisionDiagnosis found;
  // Where all inputs are right in the end, by the policy kEngine: what `clvet run` may take.
  std::optional<ExecutionPlan> plan;
  bool faster = false;  // than what would be planned without it, as both were measured
  std::shared_ptr<OpenedDevice> opened;  // keep it until the answer is safe
};

// What is within a tenth of another time is no less: it lies within the noise of a board.
inline bool is_clearly_less(double ms, double other_ms) { return ms < 0.9 * other_ms; }

// `graph` as read from the file; all inputs have the same shapes. kNoDevice, kUnavailable: no
// device of the report can; kDeviceError: the driver failed.
Result<DeviceDiagnosis> diagnose_on_device(const Graph& graph,
                                           const std::vector<CalibrationInput>& inputs,
                                           const DiagnoseOptions& options,
                                           const DeviceTarget& target);

}  // namespace clvet
