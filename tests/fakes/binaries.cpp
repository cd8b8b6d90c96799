#include "tests/fakes/binaries.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/fakes/dispatch.h"
#include "tests/fakes/observe.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {

cl_int restage(Tag<Fn::clGetProgramInfo>, const std::vector<const Rule*>& rules, cl_int result,
               cl_program, cl_program_info what, size_t, void* value, size_t*) {
  for (const Rule* rule : rules) {
    if (rule->action != "binary" || result != CL_SUCCESS || !value) continue;
    const auto& p = rule->parameters;
    if (what == CL_PROGRAM_BINARY_SIZES && p.contains("size")) {
      const auto size = p.at("size").get<size_t>();
      std::memcpy(value, &size, sizeof size);
    }
    if (what == CL_PROGRAM_BINARY_SIZES && p.contains("more")) {
      size_t size = 0;
      std::memcpy(&size, value, sizeof size);
      size += static_cast<size_t>(p.at("more").get<long>());
      std::memcpy(value, &size, sizeof size);
    }
    if (what == CL_PROGRAM_BINARIES && p.contains("garbage")) {
      std::memset(*static_cast<void**>(value), 'g', p.at("garbage").get<size_t>());
    }
  }
  return result;
}

}  // namespace fake_cl
