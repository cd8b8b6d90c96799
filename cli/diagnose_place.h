// Where `clvet diagnose` runs a model at low precision: emulated on the host, or on a device.
#pragma once

#include <functional>
#include <string>

#include "base/event.h"
#include "base/result.h"
#include "cli/common_options.h"
#include "cli/options.h"
#include "probe/report/report.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

struct DiagnosePlace {
  std::string precision = "low", device = "host", report, save_plan;
  GuardOptions guard;
  bool on_host() const { return device == "host"; }
};

// --precision, --device, --report, --save-plan, --isolate and --hang-after.
void add_diagnose_place(Verb verb, DiagnosePlace& place);
// kInvalidArgument: the words contradict each other, or the policy or kind of model.
Status check_diagnose_place(const DiagnosePlace& place, bool naive, bool language_model);

struct KeyedModel {
  std::string path, key;  // of an ONNX model: read_keyed_onnx(); else the SHA-256 of the file
};
using DiagnoseOnDevice = std::function<Result<DeviceDiagnosis>(const DeviceTarget& target)>;
// What `diagnose` finds with `report`; its plan is saved where that was asked for. A plan that
// cannot be saved is a warning.
Result<PrecisionDiagnosis> diagnose_there(const DiagnosePlace& place, const Report& report,
                                          const KeyedModel& model, const EventSink& sink,
                                          const DiagnoseOnDevice& diagnose);

}  // namespace clvet
