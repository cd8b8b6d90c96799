#include "runtime/exec/large_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace clvet {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(LargePages, GivesNoneOfWhatIsSmall) {
  LargePages pages;
  EXPECT_FALSE(pages.part(0));
  EXPECT_FALSE(pages.part(4096));
}

TEST(LargePages, GivesPartsThatShareNoByte) {
  LargePages pages;
  const std::vector<size_t> sizes = {kMiB, 100001, 20 * kMiB, 70 * kMiB, 30 * kMiB, 65536};
  std::vector<std::shared_ptr<std::byte>> parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(pages.part(sizes[i]));
    ASSERT_TRUE(parts.back());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(parts.back().get()) % 4096, 0u);
    std::ranges::fill(std::span(parts.back().get(), sizes[i]), static_cast<std::byte>(i + 1));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::span<const std::byte> all(parts[i].get(), sizes[i]);
    EXPECT_EQ(std::ranges::count(all, static_cast<std::byte>(i + 1)), std::ssize(all)) << i;
  }
}

TEST(LargePages, APartOutlivesThem) {
  auto pages = std::make_unique<LargePages>();
  const auto part = pages->part(kMiB);
  ASSERT_TRUE(part);
  pages.reset();
  std::ranges::fill(std::span(part.get(), kMiB), std::byte{1});
}

TEST(LargePages, GivesAgainWhatNobodyHolds) {
  LargePages pages;
  auto first = pages.part(kMiB);
  auto second = pages.part(kMiB);
  const std::byte* place = first.get();
  first.reset();
  EXPECT_NE(pages.part(kMiB).get(), place) << "the other part is still held";
  second.reset();
  EXPECT_EQ(pages.part(kMiB).get(), place);
}

}  // namespace
}  // namespace clvet
