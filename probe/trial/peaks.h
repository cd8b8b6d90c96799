// The supervisor's half of the peaks: what a worker is asked, and what of its answer is believed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

// One request a group of peaks, for a device whose capability checks are done: a crash in one group
// leaves the others. None where the canary is not right; maps only where `map_read` is true.
std::vector<nlohmann::json> peak_requests(const DeviceReport& device);

// Adds what `reply` says. Left out: what is no number, not positive, not finite, or beyond what any
// device has. The worker's clock may stand still, and the worker may lie.
void take_peaks(const nlohmann::json& reply, PeaksReport& peaks);

}  // namespace clvet
