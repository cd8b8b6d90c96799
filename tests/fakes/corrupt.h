// Misbehaviours that spoil what a kernel has written.
#pragma once

#include "tests/fakes/dispatch.h"  // IWYU pragma: keep
#include "tests/fakes/scenario.h"

namespace fake_cl {

// Waits for the queue, then spoils the outputs of `kernel` as the rule says (zeros, wrong_tile,
// drop_nan, round_half, bit_flip, out_of_bounds); other actions are ignored.
void corrupt_outputs(const Rule& rule, cl_command_queue queue, cl_kernel kernel);
bool corrupts(const Rule& rule);

}  // namespace fake_cl
