#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <tuple>

#include "runtime/ops/contract/view.h"

namespace clvet {
namespace {

using testing::Optional;
using testing::ResultOf;

auto is(int64_t n, int64_t h, int64_t w, int64_t c) {
  return Optional(ResultOf(
      [](const Nhwc& extent) { return std::tuple(extent.n, extent.h, extent.w, extent.c); },
      std::tuple(n, h, w, c)));
}

TEST(View, ChannelsFirstTakesTwoToFourAxes) {
  EXPECT_THAT(view_of({2, 3, 4, 5}, View::kChannelsFirst), is(2, 4, 5, 3));
  EXPECT_THAT(view_of({2, 3, 5}, View::kChannelsFirst), is(2, 1, 5, 3));
  EXPECT_THAT(view_of({2, 3}, View::kChannelsFirst), is(2, 1, 1, 3));
  EXPECT_EQ(view_of({3}, View::kChannelsFirst), std::nullopt);
  EXPECT_EQ(view_of({1, 2, 3, 4, 5}, View::kChannelsFirst), std::nullopt);
}

TEST(View, AScalarHasOnlyTheViewAsWritten) {
  EXPECT_THAT(view_of({}, View::kChannelsLast), is(1, 1, 1, 1));
  EXPECT_EQ(view_of({}, View::kChannelsFirst), std::nullopt);
  EXPECT_EQ(view_of({}, View::of({1, 0, 2})), std::nullopt);
}

TEST(View, AnOrderSuitsItsOwnRankOnly) {
  const View view = View::of({2, 0, 1});
  EXPECT_THAT(view_of({2, 3, 4}, view), is(1, 4, 2, 3));
  EXPECT_EQ(view_of({2, 3}, view), std::nullopt);
  EXPECT_EQ(view_of({2, 3, 4, 5}, view), std::nullopt);
}

}  // namespace
}  // namespace clvet
