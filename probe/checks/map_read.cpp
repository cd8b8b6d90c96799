// Capability check `map_read`: does a mapped read give the bytes that were written?
#include <cstddef>
#include <cstring>
#include <span>

#include "base/fd.h"
#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

ClMem create_buffer(DriverSession& session, size_t bytes, cl_int& status) {
  const StageMarker stage(Stage::kEnqueue, "clCreateBuffer");
  const ClApi& api = session.api();
  return ClMem(
      api, api.clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
}

cl_int write_buffer(DriverSession& session, const ClMem& buffer, std::span<const std::byte> bytes) {
  const StageMarker stage(Stage::kEnqueue, "clEnqueueWriteBuffer");
  return session.api().clEnqueueWriteBuffer(session.queue.get(), buffer.get(), CL_TRUE, 0,
                                            bytes.size(), bytes.data(), 0, nullptr, nullptr);
}

// Touching what was mapped is part of the stage: a bad pointer ends the worker here.
void* map_and_hand_over(DriverSession& session, const ClMem& buffer, std::span<std::byte> seen,
                        cl_int& status) {
  const StageMarker stage(Stage::kMap, "clEnqueueMapBuffer");
  void* mapped =
      session.api().clEnqueueMapBuffer(session.queue.get(), buffer.get(), CL_TRUE, CL_MAP_READ, 0,
                                       seen.size(), 0, nullptr, nullptr, &status);
  if (status == CL_SUCCESS && mapped) std::memcpy(seen.data(), mapped, seen.size());
  return mapped;
}

void unmap(DriverSession& session, const ClMem& buffer, void* mapped, nlohmann::json& reply) {
  const StageMarker stage(Stage::kMap, "clEnqueueUnmapMemObject");
  reply["unmap_error"] = session.api().clEnqueueUnmapMemObject(session.queue.get(), buffer.get(),
                                                               mapped, 0, nullptr, nullptr);
  session.api().clFinish(session.queue.get());
}

}  // namespace

Status handle_map_read(DriverSession& session, Message& request, nlohmann::json& reply) {
  const auto bytes = request.body.at("bytes").get<size_t>();
  CLVET_ASSIGN_OR_RETURN(const Mapping written, Mapping::of(request.fds.at(0).get(), bytes, false));
  CLVET_ASSIGN_OR_RETURN(const Mapping seen, Mapping::of(request.fds.at(1).get(), bytes, true));
  cl_int status = CL_SUCCESS;
  void* mapped = nullptr;
  ClMem buffer = create_buffer(session, bytes, status);
  if (status == CL_SUCCESS && buffer) status = write_buffer(session, buffer, written.bytes());
  if (status == CL_SUCCESS && buffer) {
    mapped = map_and_hand_over(session, buffer, seen.bytes(), status);
  }
  reply["cl_error"] = status;
  reply["null"] = status == CL_SUCCESS && !mapped;
  if (mapped) unmap(session, buffer, mapped, reply);
  const StageMarker stage(Stage::kRelease, "clReleaseMemObject");
  buffer.reset();
  return {};
}

}  // namespace clvet
