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

// Outputs of a trial to keep become those of a kept one that are laid out alike: so kernels that
// take turns differ in themselves, and not in where their results happen to lie, which can cost a
// quarter. Each round fills outputs anew. Inputs stay apart: a kernel that writes into one harms
// itself alone.
void share_outputs(const DriverSession& session, std::vector<PlacedMemory>& memory);
// Keeps a trial that came through, with the session's kernel.
void hold_trial(DriverSession& session, const TrialRequest& request,
                std::vector<PlacedMemory> memory);

}  // namespace clvet
