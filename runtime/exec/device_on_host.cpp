// Of Device what serves a processor alone.
#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/report/report.h"
#include "runtime/exec/cl_status.h"
#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"

namespace clvet {
namespace {

using Held = std::shared_ptr<std::byte>;

void CL_CALLBACK let_go(cl_mem, void* held) { delete static_cast<Held*>(held); }

}  // namespace

ClMem Device::buffer_in_large_pages(size_t size) {
  if (!on_host_ || !api().clSetMemObjectDestructorCallback) return {};
  Held memory = large_pages_.part(size);
  if (!memory) return {};
  ClMem made(api(), api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                         size, memory.get(), nullptr));
  if (!made) return {};
  auto held = std::make_unique<Held>(memory);
  const cl_int code = api().clSetMemObjectDestructorCallback(made.get(), let_go, held.get());
  if (code != CL_SUCCESS) return {};
  [[maybe_unused]] const Held* given = held.release();  // let_go() deletes it
  return made;
}

}  // namespace clvet
