// A network on a device as the model that is diagnosed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/step_times.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {

class DeviceNetwork : public DiagnosedModel {
 public:
  // All must outlive it.
  DeviceNetwork(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                const DiagnoseOptions& options, DevicePlace& place);

  size_t inputs() const override { return inputs_.size(); }
  const Wiring& wiring() const override { return wiring_; }
  std::vector<DiagnosedNode> nodes() const override { return nodes_of(graph_); }
  Result<Look> look(size_t input) override;
  Result<DiagnosedInput> with(const Raised& raised, size_t input, Detail detail) override;
  // Milliseconds of a run on the device, from the times of steps that were measured there.
  double cost(const Raised& raised, std::span<const DiagnosedNode> nodes) override;
  PlanTimes times(const Raised& raised, std::span<const DiagnosedNode> nodes) override;

  DevicePlace& place() { return place_; }
  const Emulation& emulation() const { return emulation_; }
  const Raised& nothing() const { return nothing_; }
  const Raised& everything() const { return everything_; }
  // The outputs of an input that was looked at, beside the reference's.
  Result<DiagnosedInput> judge(Session& session, size_t input) const;
  // measured_run_ms() with the first input.
  Result<double> measured_ms(Session& session) const;
  // Predictions to come start from how fast the machine is now with nothing raised, and with all.
  Result<PlanTimes> measured(const Raised& raised);

 private:
  void time_steps();
  Result<std::vector<double>> in_rounds(const std::vector<Raised>& choices,
                                        const std::function<Result<double>(Session&)>& measure);
  const std::map<std::string, Tensor>& values(size_t input) const { return inputs_[input].values; }

  const Graph& graph_;
  const std::vector<CalibrationInput>& inputs_;
  double target_;
  DevicePlace& place_;
  Emulation emulation_;
  Wiring wiring_;
  Raised nothing_, everything_;
  std::vector<std::map<std::string, Tensor>> references_;  // by input
  StepTimes times_;
  bool timed_ = false;
};

}  // namespace clvet
