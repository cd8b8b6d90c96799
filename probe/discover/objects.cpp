// The driver objects mapped into a worker: the material of the environment key.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/elf.h"
#include "base/result.h"
#include "probe/process/mapped_files.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

// Files that a driver made while it ran (compiled kernels in a cache) are not part of it.
bool made_since(const struct stat& info, int64_t start_ns) {
  return nanoseconds(info.st_ctim) >= start_ns;
}

bool is_elf(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file) return false;
  char magic[4] = {};
  const bool elf = std::fread(magic, 1, 4, file) == 4 && std::equal(magic, magic + 4, "\177ELF");
  std::fclose(file);
  return elf;
}

}  // namespace

Status handle_objects(DriverSession& session, Message&, nlohmann::json& reply) {
  reply["objects"] = nlohmann::json::array();
  const auto& before = session.mapped_before;
  for (const std::string& path : mapped_files()) {
    struct stat info {};
    if (std::binary_search(before.begin(), before.end(), path)) continue;
    if (::stat(path.c_str(), &info) != 0 || made_since(info, session.started_ns) || !is_elf(path))
      continue;
    const auto identity = file_identity(path);
    if (!identity) continue;
    reply["objects"].push_back({{"path", path},
                                {"identity", *identity},
                                {"size", static_cast<uint64_t>(info.st_size)},
                                {"mtime_ns", nanoseconds(info.st_mtim)}});
  }
  return {};
}

}  // namespace clvet
