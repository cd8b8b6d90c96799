#include "base/memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/control_groups.h"
#include "base/file.h"

namespace clvet {

static constexpr size_t kPage = 4096;

// The least of the process's control groups; one without a limit has a word or a huge number for
// it.
static uint64_t limit_of_groups(const std::string& root) {
  uint64_t least = UINT64_MAX;
  for (const auto& [version, folder] : control_groups("memory", root)) {
    const char* file = version == 2 ? "/memory.max" : "/memory.limit_in_bytes";
    const auto text = read_file(folder + file, 64);
    if (!text) continue;
    if (const uint64_t limit = std::strtoull(text->c_str(), nullptr, 10)) {
      least = std::min(least, limit);
    }
  }
  return least;
}

uint64_t memory_available(const std::string& root) {
  const auto text = read_file(root + "/proc/meminfo", 1 << 16);
  if (!text) return 0;
  const auto at = text->find("MemAvailable:");
  if (at == std::string::npos) return 0;
  const uint64_t free = std::strtoull(text->c_str() + at + 13, nullptr, 10) * 1024;
  return std::min(free, limit_of_groups(root));
}

uint64_t share_of_memory(uint64_t part, uint64_t least, uint64_t most) {
  return std::clamp(memory_available() / part, least, most);
}

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::shared_ptr<std::byte> page_memory(size_t bytes) {
  const size_t size = whole_pages(bytes);
  auto* pages = static_cast<std::byte*>(std::aligned_alloc(kPage, size));
  if (!pages) return nullptr;
  std::memset(pages, 0, size);
  return {pages, [](std::byte* one) { std::free(one); }};
}

}  // namespace clvet
