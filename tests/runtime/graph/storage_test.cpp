#include "runtime/graph/storage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace clvet {
namespace {

constexpr size_t kLarge = size_t{1} << 20;

bool all_zero(const std::byte* memory, size_t bytes) {
  return std::all_of(memory, memory + bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

class KeptStorage : public testing::Test {
 protected:
  void SetUp() override { drop_kept_storage(); }
  void TearDown() override { drop_kept_storage(); }
};

TEST_F(KeptStorage, GivesTheSameMemoryToTheNextOfTheSizeZeroedAgain) {
  auto first = zeroed_storage(kLarge);
  std::byte* const memory = first.get();
  std::memset(memory, 0x5a, kLarge);
  first.reset();
  EXPECT_GE(kept_storage_bytes(), kLarge);
  const auto second = zeroed_storage(kLarge - 100);
  EXPECT_EQ(second.get(), memory);
  EXPECT_TRUE(all_zero(second.get(), kLarge - 100));
  EXPECT_EQ(kept_storage_bytes(), 0U);
}

TEST_F(KeptStorage, GivesNoMemoryToTwoAtOnce) {
  zeroed_storage(kLarge).reset();
  const auto first = zeroed_storage(kLarge), second = zeroed_storage(kLarge);
  EXPECT_NE(first.get(), second.get());
}

TEST_F(KeptStorage, HoldsEverySizeThatWasAskedFor) {
  for (size_t bytes = 0; bytes < (size_t{3} << 20); bytes = bytes * 9 / 8 + 1) {
    auto storage = zeroed_storage(bytes);
    ASSERT_TRUE(storage) << bytes;
    std::memset(storage.get(), 1, bytes);  // asan watches the end
  }
}

TEST_F(KeptStorage, NeverKeepsMoreThanItsBound) {
  std::vector<std::shared_ptr<std::byte>> many;
  for (size_t i = 0; i < 100; ++i) many.push_back(zeroed_storage(kLarge + i * 1000));
  many.clear();
  EXPECT_GT(kept_storage_bytes(), kMostKeptBytes / 2);
  EXPECT_LE(kept_storage_bytes(), kMostKeptBytes);
  zeroed_storage(kMostKeptBytes * 2).reset();
  EXPECT_LE(kept_storage_bytes(), kMostKeptBytes);
  drop_kept_storage();
  EXPECT_EQ(kept_storage_bytes(), 0U);
}

TEST_F(KeptStorage, LeavesSmallOnesToTheSystem) {
  zeroed_storage(1000).reset();
  EXPECT_EQ(kept_storage_bytes(), 0U);
}

TEST_F(KeptStorage, ServesThreadsThatPassMemoryOn) {
  std::atomic<int> faults = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 300; ++i) {
        const size_t bytes = (size_t{64} << 10) * (1 + i % 5);
        const auto storage = zeroed_storage(bytes);
        faults += !all_zero(storage.get(), bytes);
        std::memset(storage.get(), t + 1, bytes);
        faults += storage.get()[bytes - 1] != std::byte(t + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(faults, 0);
}

TEST_F(KeptStorage, DoesNotMakeAChildOfForkWait) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) zeroed_storage(kLarge).reset();
  });
  int faults = 0;
  for (int i = 0; i < 50; ++i) {
    const auto child = fork();
    if (child == 0) {
      alarm(20);
      zeroed_storage(kLarge).reset();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    faults += status != 0;
  }
  stop = true;
  busy.join();
  EXPECT_EQ(faults, 0);
}

}  // namespace
}  // namespace clvet
