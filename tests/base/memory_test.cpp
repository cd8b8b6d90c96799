#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/support.h"

namespace clvet {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A machine that says it has `kib` KiB to give.
void put_meminfo(const test::TempDir& root, const std::string& kib) {
  std::filesystem::create_directories(root / "proc");
  test::put(root / "proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:  " + kib + " kB\n");
}

TEST(MemoryAvailable, IsWhatTheKernelEstimates) {
  const test::TempDir root;
  put_meminfo(root, "4096");
  EXPECT_EQ(memory_available(root.path()), 4 * kMiB);
  EXPECT_GT(memory_available(), 0);
}

TEST(MemoryAvailable, IsNothingWhereTheKernelGivesNoEstimate) {
  const test::TempDir root;
  EXPECT_EQ(memory_available(root.path()), 0);
  std::filesystem::create_directories(root / "proc");
  test::put(root / "proc/meminfo", "MemTotal: 9999999 kB\n");
  EXPECT_EQ(memory_available(root.path()), 0);
}

TEST(MemoryAvailable, IsNoMoreThanTheLimitOfTheContainer) {
  for (const char* file : {"memory.max", "memory/memory.limit_in_bytes", "group/memory.max",
                           "memory/group/memory.limit_in_bytes"}) {
    const test::TempDir root;
    put_meminfo(root, "4096");
    std::filesystem::create_directories(root / "proc/self");
    test::put(root / "proc/self/cgroup", "4:memory:/group/own\n0::/group/own\n");
    const std::filesystem::path limit = root / "sys/fs/cgroup/" + file;
    std::filesystem::create_directories(limit.parent_path());
    test::put(limit, "1048576\n");
    EXPECT_EQ(memory_available(root.path()), kMiB) << file;
    for (const char* none : {"max\n", "9223372036854771712\n", "", "0\n"}) {
      test::put(limit, none);
      EXPECT_EQ(memory_available(root.path()), 4 * kMiB) << file << ": " << none;
    }
  }
}

TEST(ShareOfMemory, LiesBetweenItsLimits) {
  EXPECT_EQ(share_of_memory(2, 1, 5), 5);
  EXPECT_EQ(share_of_memory(2, uint64_t{1} << 60, uint64_t{1} << 61), uint64_t{1} << 60);
  const uint64_t half = share_of_memory(2, 0, UINT64_MAX);
  EXPECT_GT(half, 0);
  EXPECT_LT(half, UINT64_MAX);
}

}  // namespace
}  // namespace clvet
