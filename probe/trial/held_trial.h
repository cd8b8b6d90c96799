// Trials that a worker keeps, so that rounds of several can take turns without building anything.
#pragma once

#include <vector>

#include "kernels/catalog.h"
#include "probe/trial/placed_memory.h"
#include "probe/trial/request.h"
#include "probe/worker/driver_session.h"

namespace clvet {

struct HeldTrial {
  TrialRequest request;
  std::vector<PlacedMemory> memory;
  SpareProgram built;  // the kernel with its arguments
};

// Makes the session's program and kernel those that an earlier trial with a slot built of the same
// text, if there are such.
void take_spare(DriverSession& session, const Program& program);
// Keeps a trial that came through, with the session's kernel.
void hold_trial(DriverSession& session, const TrialRequest& request,
                std::vector<PlacedMemory> memory);

}  // namespace clvet
