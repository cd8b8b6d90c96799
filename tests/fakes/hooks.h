// The function that stands in for each entry point: fires rules, calls the driver, keeps track.
#pragma once

#include "tests/fakes/dispatch.h"  // IWYU pragma: keep

namespace fake_cl {

#define FAKE_CL_API(ret, name, params, args) ret CL_API_CALL hooked_##name params;
#include "tests/fakes/api.inc"
#undef FAKE_CL_API

}  // namespace fake_cl
