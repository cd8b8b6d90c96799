#include "runtime/host/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "base/processors.h"

namespace clvet {
namespace {

// Ends the process with the number of threads that took part in a loop; each part is slow, so that
// no thread gets all of them.
[[noreturn]] void count_threads(int wanted) {
  set_threads(wanted);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(64, 1, [&](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  std::_Exit(static_cast<int>(seen.size()));
}

// In a process of its own: the threads of a process start once.
TEST(ParallelFor, WorksOnAsManyThreadsAsWereAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int wanted : {1, 2, 5})
    EXPECT_EXIT(count_threads(wanted), testing::ExitedWithCode(wanted), "") << wanted;
}

}  // namespace
}  // namespace clvet
