// Trials that a worker keeps, so that rounds of several can take turns without building anything.
#pragma once

#include <vector>

#include "probe/trial/placed_memory.h"
#include "probe/trial/request.h"
#include "probe/worker/driver_session.h"

namespace clvet {

struct HeldTrial {
  TrialRequest request;
  std::vector<PlacedMemory> memory;
  BuiltProgram built;  // the kernel with its arguments
};

// Keeps a trial that came through, with the session's kernel.
void hold_trial(DriverSession& session, const TrialRequest& request,
                std::vector<PlacedMemory> memory);

}  // namespace clvet
