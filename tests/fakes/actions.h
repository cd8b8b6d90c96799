// Misbehaviours that concern the process, and the reading of a rule's parameters.
#pragma once

#include <string>

#include "tests/fakes/dispatch.h"  // IWYU pragma: keep
#include "tests/fakes/scenario.h"

namespace fake_cl {

// Performs a rule that ends, delays or disturbs the process; false if its action is of another
// kind. May not return.
bool disturb_process(const Rule& rule);
// Fires the rules of a call that no object belongs to ("load", "clIcdGetPlatformIDsKHR", ...).
// Returns the error to report, or CL_SUCCESS.
cl_int fire_plain(const std::string& call);
// An OpenCL error given as a number or as a name; `fallback` where the rule has none.
cl_int error_code(const Rule& rule, cl_int fallback);

}  // namespace fake_cl
