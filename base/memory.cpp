#include "base/memory.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/file.h"

namespace clvet {

uint64_t memory_available() {
  const auto text = read_file("/proc/meminfo", 1 << 16);
  if (!text) return 0;
  const auto at = text->find("MemAvailable:");
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 13, nullptr, 10) * 1024;
}

}  // namespace clvet
