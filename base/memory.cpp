#include "base/memory.h"

#include <sys/mman.h>

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

std::shared_ptr<std::byte> large_page_memory(size_t bytes) {
  if (bytes > SIZE_MAX - kLargePage) return nullptr;
  // From a multiple of the page on: the system maps anywhere.
  const size_t size = bytes + kLargePage;
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  ::madvise(mapped, size, MADV_HUGEPAGE);  // where it is refused, pages are small
  auto* first = static_cast<std::byte*>(mapped);
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(first) % kLargePage) % kLargePage;
  return {first + before, [first, size](std::byte*) { ::munmap(first, size); }};
}

}  // namespace clvet
