#include "base/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace clvet {
namespace {

TEST(LargePageMemory, BeginsAtALargePageAndIsZeroToItsEnd) {
  for (const size_t bytes : {size_t{1}, kLargePage - 1, kLargePage, 3 * kLargePage + 5}) {
    const auto memory = large_page_memory(bytes);
    ASSERT_TRUE(memory) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kLargePage, 0u);
    const std::span<std::byte> all(memory.get(), bytes);
    EXPECT_EQ(std::ranges::count(all, std::byte{0}), static_cast<ptrdiff_t>(bytes));
    std::ranges::fill(all, std::byte{1});
  }
}

TEST(LargePageMemory, IsNullWhereThereIsNone) {
  EXPECT_FALSE(large_page_memory(size_t{1} << 60));
  EXPECT_FALSE(large_page_memory(SIZE_MAX));
}

}  // namespace
}  // namespace clvet
