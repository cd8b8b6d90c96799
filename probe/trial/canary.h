// The canary: the smallest kernel that shows a device alive.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "probe/trial/material.h"

namespace clvet {

struct Outcome;

// What its kernel makes of a value; small ones do not overflow.
inline int32_t canary_result(int32_t value) { return value * 3 + 1; }

Result<PreparedTrial> prepare_canary();
// verdict "true" (right), "wrong", "false" (the driver returned an error), "crash" or "hang".
CapabilityReport judge_canary(const PreparedTrial& canary, const Outcome& outcome);

// The descriptors of a trial in the order of their indices, for sending.
std::vector<int> raw_fds(const PreparedTrial& prepared);

}  // namespace clvet
