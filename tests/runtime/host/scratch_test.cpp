#include "runtime/host/scratch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace clvet {
namespace {

TEST(Scratch, IsAlignedAndNobodyElsesWhileItLives) {
  for (const size_t count : {size_t{1}, size_t{1000}, size_t{1} << 21, size_t{7}}) {
    const Scratch one(count), other(count);
    for (const Scratch* each : {&one, &other}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(each->data()) % 64, 0u);
      for (size_t i = 0; i < count; ++i) each->data()[i] = each == &one ? 1.f : 2.f;
    }
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(one.data()[i], 1.f) << count;
  }
}

TEST(Scratch, IsKeptForTheNextBlockUnlessItIsLarge) {
  const float* kept = nullptr;
  {
    const Scratch one(5000);
    kept = one.data();
  }
  EXPECT_EQ(Scratch(3000).data(), kept);
}

}  // namespace
}  // namespace clvet
