#include "base/threads.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>

namespace clvet {
namespace {

TEST(InThreads, CallsTheWorkOnceForEachNumber) {
  std::atomic<size_t> sum{0};
  in_threads(4, [&](size_t i) { sum += 1 + i; });
  EXPECT_EQ(sum, 10u);
}

TEST(InThreads, ThrowsWhatOneThreadThrewAfterTheOthersAreDone) {
  std::atomic<int> done{0};
  const auto work = [&](size_t i) {
    if (i == 1) throw std::runtime_error("no");
    ++done;
  };
  EXPECT_THROW(in_threads(3, work), std::runtime_error);
  EXPECT_EQ(done, 2);
}

TEST(ShareAmongThreads, CallsTheWorkOnceForEachNumber) {
  for (const size_t threads : {1, 3, 9}) {
    std::array<std::atomic<int>, 7> calls{};
    share_among_threads(threads, calls.size(), [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1) << threads;
  }
}

}  // namespace
}  // namespace clvet
