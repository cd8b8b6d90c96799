// Binaries of programs that are not what the driver says of them.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/fakes/dispatch.h"  // IWYU pragma: keep
#include "tests/fakes/observe.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {

// The answer to a question about a program, after `binary` rules.
cl_int restage(Tag<Fn::clGetProgramInfo>, const std::vector<const Rule*>& rules, cl_int result,
               cl_program program, cl_program_info what, size_t size, void* value,
               size_t* size_ret);

}  // namespace fake_cl
