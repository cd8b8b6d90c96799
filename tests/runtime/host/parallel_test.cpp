#include "runtime/host/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/processors.h"
#include "base/threads.h"

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

// Sessions of several threads compute side by side; a loop may also begin within a loop's body.
TEST(ParallelFor, ServesSeveralCallersAndLoopsWithinLoops) {
  constexpr int64_t kCount = 1000;
  std::vector<std::vector<int>> seen(4, std::vector<int>(kCount));
  in_threads(seen.size(), [&](size_t caller) {
    for (int round = 0; round < 50; ++round) {
      parallel_for(kCount / 10, 1, [&](int64_t first, int64_t end) {
        for (int64_t tens = first; tens < end; ++tens) {
          parallel_for(10, 1, [&](int64_t from, int64_t to) {
            for (int64_t i = from; i < to; ++i) ++seen[caller][static_cast<size_t>(10 * tens + i)];
          });
        }
      });
    }
  });
  for (const std::vector<int>& each : seen) EXPECT_EQ(each, std::vector<int>(kCount, 50));
}

}  // namespace
}  // namespace clvet
