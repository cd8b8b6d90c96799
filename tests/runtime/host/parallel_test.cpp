#include "runtime/host/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
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
#include "runtime/host/gemm.h"
#include "tests/runtime/helpers.h"

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

// All bytes of a product that is cut into blocks, and of one that is cut into rows, as one number.
int hash_of_products() {
  uint32_t hash = 2166136261;
  for (const auto& [m, k, n] :
       {std::array<int64_t, 3>{33, 300, 2000}, {700, 300, 33}, {2, 900, 600}}) {
    const std::vector<float> a = test::floats(test::noise({m * k}, 1));
    const std::vector<float> b = test::floats(test::noise({k * n}, 2));
    std::vector<float> c(static_cast<size_t>(m * n));
    gemm({a.data(), m, k, k}, {b.data(), k, n, n}, c.data(), n, false);
    for (const float value : c) hash = (hash ^ std::bit_cast<uint32_t>(value)) * 16777619;
  }
  return static_cast<int>((hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24) & 127);
}

[[noreturn]] void hash_with_threads(int wanted) {
  set_threads(wanted);
  std::_Exit(hash_of_products());
}

TEST(ParallelFor, LeavesResultsAlikeOnAnyNumberOfThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int want = hash_of_products();
  for (const int wanted : {1, 2, 3, 16})
    EXPECT_EXIT(hash_with_threads(wanted), testing::ExitedWithCode(want), "") << wanted;
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
