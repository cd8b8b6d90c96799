// The driver objects mapped into a worker: the material of the environment key.
#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/elf.h"
#include "base/result.h"
#include "probe/process/driver_files.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {

Status handle_objects(DriverSession& session, Message&, nlohmann::json& reply) {
  reply["objects"] = nlohmann::json::array();
  for (const std::string& path : driver_files(session.before)) {
    struct stat info {};
    const auto identity = file_identity(path);
    if (!identity || ::stat(path.c_str(), &info) != 0) continue;
    reply["objects"].push_back({{"path", path},
                                {"identity", *identity},
                                {"size", static_cast<uint64_t>(info.st_size)},
                                {"mtime_ns", nanoseconds(info.st_mtim)}});
  }
  return {};
}

}  // namespace clvet
