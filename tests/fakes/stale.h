// Reads and maps that give what the one before gave, and reads that do not arrive.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/fakes/dispatch.h"  // IWYU pragma: keep
#include "tests/fakes/observe.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {

// The result of a call, after `stale` rules: of a read, its bytes are those of the read before of
// the same memory; a map is a copy of what the map before showed. After `lost` rules, zeros are
// what a read brings into memory that a map gave, and what a write brings from there.
template <Fn F, class R, class... A>
R restage(Tag<F>, const std::vector<const Rule*>&, R result, A...) {
  return result;
}
cl_int restage(Tag<Fn::clEnqueueWriteBuffer>, const std::vector<const Rule*>& rules, cl_int result,
               cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
               const void* data, cl_uint, const cl_event*, cl_event*);
cl_int restage(Tag<Fn::clEnqueueReadBuffer>, const std::vector<const Rule*>& rules, cl_int result,
               cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
               void* data, cl_uint, const cl_event*, cl_event*);
void* restage(Tag<Fn::clEnqueueMapBuffer>, const std::vector<const Rule*>& rules, void* result,
              cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
              size_t offset, size_t size, cl_uint, const cl_event*, cl_event*, cl_int*);

}  // namespace fake_cl
