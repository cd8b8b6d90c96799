// What comes of asking a worker to open a device (open_message).
#pragma once

#include "probe/report/report.h"
#include "probe/worker/supervisor.h"

namespace clvet {

// A device that could not be opened so many times, one after the other, is given up. Once is no
// proof: on a busy machine PoCL hangs now and then while it starts.
inline constexpr int kMaxOpenFailures = 2;

bool shows_open_device(const Outcome& outcome);

// Verdict, stage and evidence of an outcome that does not show it, and is neither our own fault nor
// ends the run. The note is whole: "the device could not be opened: " and why.
VerdictReport opening_failure(const Outcome& outcome);

}  // namespace clvet
