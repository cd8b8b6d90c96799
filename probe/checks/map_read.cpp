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

Status handle_map_read(DriverSession& session, Message& request, nlohmann::json& reply) {
  const ClApi& api = session.api();
  const auto bytes = request.body.at("bytes").get<size_t>();
  std::vector<unsigned char> written(bytes);
  for (size_t i = 0; i < bytes; ++i) written[i] = static_cast<unsigned char>(i * 7 + i / 251);
  cl_int status = CL_SUCCESS;
  void* mapped = nullptr;
  ClMem buffer;
  {
    const StageMarker stage(Stage::kEnqueue, "clCreateBuffer");
    buffer = ClMem(
        api, api.clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
  }
  if (status == CL_SUCCESS && buffer) {
    const StageMarker stage(Stage::kEnqueue, "clEnqueueWriteBuffer");
    status = api.clEnqueueWriteBuffer(session.queue.get(), buffer.get(), CL_TRUE, 0, bytes,
                                      written.data(), 0, nullptr, nullptr);
  }
  if (status == CL_SUCCESS && buffer) {
    const StageMarker stage(Stage::kMap, "clEnqueueMapBuffer");
    mapped = api.clEnqueueMapBuffer(session.queue.get(), buffer.get(), CL_TRUE, CL_MAP_READ, 0,
                                    bytes, 0, nullptr, nullptr, &status);
    // Touching what was mapped is part of the stage: a bad pointer ends the worker here.
    if (status == CL_SUCCESS && mapped)
      reply["same"] = std::memcmp(mapped, written.data(), bytes) == 0;
  }
  reply["cl_error"] = status;
  reply["null"] = status == CL_SUCCESS && !mapped;
  if (mapped) {
    const StageMarker stage(Stage::kMap, "clEnqueueUnmapMemObject");
    reply["unmap_error"] =
        api.clEnqueueUnmapMemObject(session.queue.get(), buffer.get(), mapped, 0, nullptr, nullptr);
    api.clFinish(session.queue.get());
  }
  const StageMarker stage(Stage::kRelease, "clReleaseMemObject");
  buffer.reset();
  return {};
}

}  // namespace clvet
