// Memory that a thread keeps for its next loop.
#pragma once

#include <cstddef>

namespace clvet {

// Room for `count` floats, at an address that vectors like; zero or what was left there. It is the
// thread's own until it asks again. `which`: of several at a time, 0 to 1. std::bad_alloc.
float* scratch(size_t count, int which = 0);

}  // namespace clvet
