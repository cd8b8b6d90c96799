// How much memory the machine can still give; memory in whole pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace clvet {

// Bytes, by the kernel's own estimate, and no more than the limits of the process's control groups;
// 0 where it gives none. `root`: the folder that holds proc and sys.
uint64_t memory_available(const std::string& root = {});

// A `part`-th of that, at least `least` and at most `most` bytes: what may be kept to save time.
uint64_t share_of_memory(uint64_t part, uint64_t least, uint64_t most);

// Zeroed memory of whole_pages(bytes), the first byte of a page: devices of Arm and Intel use such
// memory in place. Null: there is none.
std::shared_ptr<std::byte> page_memory(size_t bytes);
size_t whole_pages(size_t bytes);

}  // namespace clvet
