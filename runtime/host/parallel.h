// Loops over several threads: as many as base/processors.h says when the first one starts.
#pragma once

#include <cstdint>
#include <functional>

namespace clvet {

// Calls body(first, end) for parts that make up 0..count, on threads that are kept for the next
// loop; returns when all are done. Parts hold at least `grain` of the count. One loop at a time has
// the threads: others, of other sessions, are done by the thread that asks.
void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);
// Threads that take part in a loop.
int64_t parallel_width();

}  // namespace clvet
