// In which order a device's cases are tried. Pure.
#pragma once

#include <vector>

#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/trial/cases.h"

namespace clvet {

// Puts last the cases that a known issue of this device foretells to fail, where maintained source
// states it (grade A) and it names constructs: should the driver take the machine down, all others
// have their verdicts. Nothing is left out, and the order is kept else.
void put_suspects_last(const std::vector<KnownIssue>& issues, const DeviceFacts& device,
                       std::vector<TrialCase>& cases);

}  // namespace clvet
