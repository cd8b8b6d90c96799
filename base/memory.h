// How much memory the machine can still give.
#pragma once

#include <cstdint>

namespace clvet {

// Bytes, by the kernel's own estimate; 0 where it gives none.
uint64_t memory_available();

}  // namespace clvet
