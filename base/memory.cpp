#include "base/memory.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/file.h"

namespace clvet {

static constexpr size_t kPage = 4096;

uint64_t memory_available() {
  const auto text = read_file("/proc/meminfo", 1 << 16);
  if (!text) return 0;
  const auto at = text->find("MemAvailable:");
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 13, nullptr, 10) * 1024;
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
