// How much memory the machine can still give; memory in whole pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace clvet {

// Bytes, by the kernel's own estimate; 0 where it gives none.
uint64_t memory_available();

// Zeroed memory of whole_pages(bytes), the first byte of a page: devices of Arm and Intel use such
// memory in place. Null: there is none.
std::shared_ptr<std::byte> page_memory(size_t bytes);
size_t whole_pages(size_t bytes);

}  // namespace clvet
