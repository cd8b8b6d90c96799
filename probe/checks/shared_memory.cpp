// Capability checks `map_read`, `host_pointer`, `svm` and `arm_import`: does a map show the bytes
// that were written, and those that a kernel wrote over them, twice?
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/json.h"
#include "base/result.h"
#include "probe/checks/checked_memory.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

// The canary's kernel, from the memory into itself.
DrivenStatus launch_in_place(DriverSession& session, CheckedMemory& memory, size_t items,
                             nlohmann::json& reply) {
  CLVET_DRIVE(build_check(session, "canary", "clvet_canary", reply));
  for (cl_uint index = 0; index < 2; ++index) CLVET_DRIVE(memory.set_arg(session, index));
  return enqueue_kernel(session, 1, &items, nullptr);
}

// `seen`: a part as large as `written` for the map of what was written, and one for each launch.
DrivenStatus write_launch_and_map(DriverSession& session, CheckedMemory& memory,
                                  std::span<const std::byte> written, std::span<std::byte> seen,
                                  nlohmann::json& reply) {
  CLVET_DRIVE(memory.write(session, written));
  for (size_t at = 0; at < seen.size(); at += written.size()) {
    if (at > 0)
      CLVET_DRIVE(launch_in_place(session, memory, written.size() / sizeof(cl_int), reply));
    CLVET_DRIVE(memory.read(session, seen.subspan(at, written.size())));
  }
  return {};
}

}  // namespace

Status handle_shared_memory(DriverSession& session, Message& request, nlohmann::json& reply) {
  const auto kind = request.body.at("memory").get<std::string>();
  const auto bytes = request.body.at("bytes").get<size_t>();
  const auto launches = request.body.at("launches").get<size_t>();
  CLVET_ASSIGN_OR_RETURN(const Mapping written, Mapping::of(request.fds.at(0).get(), bytes, false));
  CLVET_ASSIGN_OR_RETURN(const Mapping seen,
                         Mapping::of(request.fds.at(1).get(), bytes * (launches + 1), true));
  auto memory = make_checked_memory(session, kind, bytes);
  if (!memory) {
    tell_fault(memory.error(), reply);
    return {};
  }
  const DrivenStatus done =
      write_launch_and_map(session, **memory, written.bytes(), seen.bytes(), reply);
  if (!done) tell_fault(done.error(), reply);
  if (const DrivenStatus freed = (*memory)->release(session); done && !freed)
    tell_fault(freed.error(), reply);
  return {};
}

}  // namespace clvet
