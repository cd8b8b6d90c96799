// Capability check `map_read`: does a mapped read give the bytes that were written?
#include <cstring>
#include <vector>

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

cl_int write_buffer(DriverSession& session, const ClMem& buffer,
                    const std::vector<unsigned char>& bytes) {
  const StageMarker stage(Stage::kEnqueue, "clEnqueueWriteBuffer");
  return session.api().clEnqueueWriteBuffer(session.queue.get(), buffer.get(), CL_TRUE, 0,
                                            bytes.size(), bytes.data(), 0, nullptr, nullptr);
}

// Touching what was mapped is part of the stage: a bad pointer ends the worker here.
void* map_and_compare(DriverSession& session, const ClMem& buffer,
                      const std::vector<unsigned char>& written, cl_int& status,
                      nlohmann::json& reply) {
  const StageMarker stage(Stage::kMap, "clEnqueueMapBuffer");
  void* mapped =
      session.api().clEnqueueMapBuffer(session.queue.get(), buffer.get(), CL_TRUE, CL_MAP_READ, 0,
                                       written.size(), 0, nullptr, nullptr, &status);
  if (status == CL_SUCCESS && mapped)
    reply["same"] = std::memcmp(mapped, written.data(), written.size()) == 0;
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
  std::vector<unsigned char> written(bytes);
  for (size_t i = 0; i < bytes; ++i) written[i] = static_cast<unsigned char>(i * 7 + i / 251);
  cl_int status = CL_SUCCESS;
  void* mapped = nullptr;
  ClMem buffer = create_buffer(session, bytes, status);
  if (status == CL_SUCCESS && buffer) status = write_buffer(session, buffer, written);
  if (status == CL_SUCCESS && buffer) {
    mapped = map_and_compare(session, buffer, written, status, reply);
  }
  reply["cl_error"] = status;
  reply["null"] = status == CL_SUCCESS && !mapped;
  if (mapped) unmap(session, buffer, mapped, reply);
  const StageMarker stage(Stage::kRelease, "clReleaseMemObject");
  buffer.reset();
  return {};
}

}  // namespace clvet
