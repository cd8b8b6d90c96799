// In which order a device's cases are tried. Pure.
#pragma once

#include <vector>

#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/report/device_features.h"
#include "probe/trial/cases.h"

namespace clvet {

// Puts first what a plan needs at least: float kernels of each op in the combination that asks
// least of the device, and is thus most likely to be right; then the rest of that combination, then
// the one that is likely to be worth most here. With `hurry`, one test of each op comes before all
// else, at the price of building its program twice. The order is kept else, and the cases of one
// program stay neighbours but for that.
void put_worthy_first(const DeviceFeatures& features, bool hurry, std::vector<TrialCase>& cases);

// Puts last the cases that a known issue of this device foretells to fail, where maintained source
// states it (grade A) and it names constructs: should the driver take the machine down, all others
// have their verdicts. Nothing is left out, and the order is kept else.
void put_suspects_last(const std::vector<KnownIssue>& issues, const DeviceFacts& device,
                       std::vector<TrialCase>& cases);

}  // namespace clvet
