// How many threads compute on the host.
#pragma once

#include <string>

#include "base/result.h"

namespace clvet {

inline constexpr int kMostThreads = 1024;
// Of this process and of the processes that it starts; a number as parse_threads() takes it.
inline constexpr const char* kThreadsVariable = "CLVET_THREADS";

// Processors that this process may run on by its affinity mask; at least 1.
int processors_of_mask();
// The least of `mask` and what the CPU quotas of the process's control groups allow (v1 and v2, of
// the group and of those above it); at least 1. A quota of one and a half processors counts as 2; a
// file that is absent or makes no sense allows everything. `root`: the folder that holds proc and
// sys.
int allowed_processors(int mask, const std::string& root = "");

// 0 to kMostThreads; 0: as many as allowed_processors(). kInvalidArgument names the text.
Result<int> parse_threads(const std::string& text);
// kInvalidArgument: the variable holds anything else. Empty is as good as unset.
Status check_threads_variable();
// For this process and its children. Before the first loop of runtime/host/parallel.h.
void set_threads(int count);
// What set_threads() or the variable said, else what is allowed; at least 1.
int thread_count();

}  // namespace clvet
