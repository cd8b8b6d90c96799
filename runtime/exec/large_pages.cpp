#include "runtime/exec/large_pages.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/memory.h"

namespace clvet {
namespace {

constexpr size_t kLeast = size_t{1} << 16;
// Of addresses; memory is taken as it is used.
constexpr size_t kRegion = size_t{32} << 20;

}  // namespace

std::shared_ptr<std::byte> LargePages::part(size_t bytes) {
  if (bytes < kLeast) return nullptr;
  const size_t size = whole_pages(bytes);
  if (region_.use_count() == 1) used_ = 0;
  if (!region_ || size_ - used_ < size) {
    const size_t wanted = std::max(size, kRegion);
    region_ = large_page_memory(wanted);
    size_ = region_ ? wanted : 0;
    used_ = 0;
    if (!region_) return nullptr;
  }
  std::shared_ptr<std::byte> made(region_, region_.get() + used_);
  used_ += size;
  return made;
}

}  // namespace clvet
