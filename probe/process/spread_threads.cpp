#include "probe/process/spread_threads.h"

#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/whole_number.h"

namespace clvet {
namespace {

std::vector<pid_t> other_threads() {
  std::vector<pid_t> threads;
  std::error_code failed;
  for (std::filesystem::directory_iterator row("/proc/self/task", failed), end;
       !failed && row != end; row.increment(failed)) {
    const auto id = whole_number(row->path().filename().native());
    if (id && *id != gettid()) threads.push_back(static_cast<pid_t>(*id));
  }
  if (failed) threads.clear();
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::vector<int> own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> own;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return own;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) own.push_back(i);
  }
  return own;
}

}  // namespace

SpreadThreads::SpreadThreads(bool wanted) {
  if (!wanted) return;
  const std::vector<int> own = own_processors();
  const std::vector<pid_t> threads = other_threads();
  if (own.size() < 2 || threads.size() != own.size()) return;
  for (size_t i = 0; i < own.size(); ++i) {
    Row row{threads[i], {}};
    if (sched_getaffinity(row.thread, sizeof row.before, &row.before) != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(own[i], &one);
    if (sched_setaffinity(row.thread, sizeof one, &one) == 0) moved_.push_back(row);
  }
}

// A thread may have ended meanwhile.
SpreadThreads::~SpreadThreads() {
  for (const Row& row : moved_) {
    (void)sched_setaffinity(row.thread, sizeof row.before, &row.before);
  }
}

}  // namespace clvet
