// `clvet tune`: the calls of a plan, measured one after the other and kept.
#pragma once

#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/plan/tuning.h"
#include "runtime/run/tune_record.h"

namespace clvet {

struct TuningSettings {
  std::string state_dir;
  double until = 0, seconds = 0;  // monotonic seconds at which it ends, and how long that is
  bool exhaustive = false;        // kernels that were far behind are measured for each call, too
  EventSink sink;
};

// What failed at its own call alone, without what was faster than something else.
void forget_times(Report& report);

// Measures the calls that were not measured yet first, each as long as its share of the time
// allows, and keeps each that is done; then again those whose kernels are close. What is not right
// is a tombstone. kUnavailable: the device is not there any more, or was changed since the report.
Status tune_calls(const TuningSettings& settings, const Report& report, const DeviceReport& device,
                  std::vector<TunableCall> calls, TuneRecord& record);

}  // namespace clvet
