// Capability check `map_read`: does a mapped read give the bytes that were written, and those that
// a kernel wrote over them, twice?
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

// Touching what was mapped is part of the stage: a bad pointer ends the worker here.
DrivenStatus map_and_hand_over(DriverSession& session, cl_mem buffer, std::span<std::byte> seen) {
  const ClApi& api = session.api();
  cl_int status = CL_SUCCESS;
  void* mapped = nullptr;
  {
    const StageMarker stage(Stage::kMap, "clEnqueueMapBuffer");
    mapped = api.clEnqueueMapBuffer(session.queue.get(), buffer, CL_TRUE, CL_MAP_READ, 0,
                                    seen.size(), 0, nullptr, nullptr, &status);
    if (status == CL_SUCCESS && mapped) std::memcpy(seen.data(), mapped, seen.size());
  }
  if (status != CL_SUCCESS) return refused(Stage::kMap, "clEnqueueMapBuffer", status);
  if (!mapped)
    return lied(Stage::kMap, "clEnqueueMapBuffer",
                "clEnqueueMapBuffer returned success and a null pointer");
  return run_call(Stage::kMap, "clEnqueueUnmapMemObject", [&] {
    const cl_int code =
        api.clEnqueueUnmapMemObject(session.queue.get(), buffer, mapped, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? api.clFinish(session.queue.get()) : code;
  });
}

// The canary's kernel, from the buffer into itself.
DrivenStatus launch_in_place(DriverSession& session, cl_mem buffer, size_t items,
                             nlohmann::json& reply) {
  CLVET_DRIVE(build_check(session, "canary", "clvet_canary", reply));
  for (cl_uint index = 0; index < 2; ++index) {
    CLVET_DRIVE(run_call(Stage::kCreateKernel, "clSetKernelArg", [&] {
      return session.api().clSetKernelArg(session.kernel.get(), index, sizeof buffer, &buffer);
    }));
  }
  return enqueue_kernel(session, 1, &items, nullptr);
}

// `seen`: a part as large as `written` for the map of what was written, and one for each launch.
DrivenStatus write_launch_and_map(DriverSession& session, std::span<const std::byte> written,
                                  std::span<std::byte> seen, ClMem& buffer, nlohmann::json& reply) {
  const ClApi& api = session.api();
  auto made = create_object<ClMem>(api, Stage::kEnqueue, "clCreateBuffer", [&](cl_int* status) {
    return api.clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, written.size(), nullptr,
                              status);
  });
  if (!made) return tl::unexpected(made.error());
  buffer = std::move(*made);
  CLVET_DRIVE(run_call(Stage::kEnqueue, "clEnqueueWriteBuffer", [&] {
    return api.clEnqueueWriteBuffer(session.queue.get(), buffer.get(), CL_TRUE, 0, written.size(),
                                    written.data(), 0, nullptr, nullptr);
  }));
  for (size_t at = 0; at < seen.size(); at += written.size()) {
    if (at > 0)
      CLVET_DRIVE(launch_in_place(session, buffer.get(), written.size() / sizeof(cl_int), reply));
    CLVET_DRIVE(map_and_hand_over(session, buffer.get(), seen.subspan(at, written.size())));
  }
  return {};
}

}  // namespace

Status handle_map_read(DriverSession& session, Message& request, nlohmann::json& reply) {
  const auto bytes = request.body.at("bytes").get<size_t>();
  const auto launches = request.body.at("launches").get<size_t>();
  CLVET_ASSIGN_OR_RETURN(const Mapping written, Mapping::of(request.fds.at(0).get(), bytes, false));
  CLVET_ASSIGN_OR_RETURN(const Mapping seen,
                         Mapping::of(request.fds.at(1).get(), bytes * (launches + 1), true));
  ClMem buffer;
  const DrivenStatus status =
      write_launch_and_map(session, written.bytes(), seen.bytes(), buffer, reply);
  if (!status) tell_fault(status.error(), reply);
  const StageMarker stage(Stage::kRelease, "clReleaseMemObject");
  buffer.reset();
  return {};
}

}  // namespace clvet
