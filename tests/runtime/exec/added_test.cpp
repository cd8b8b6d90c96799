#include "runtime/exec/added.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace clvet {
namespace {

constexpr std::array<float, 3> kTo = {30000, -1, 2};

TEST(Added, ShowsAWrongPartOfAFarLargerSum) {
  const std::array<float, 3> host = {30001, 1, 2.5f}, device = {30001.5f, 1, 2};
  const Added added(device, host, kTo, false);
  EXPECT_EQ(added.host, (std::vector<float>{1, 2, 0.5f}));
  EXPECT_NEAR(added.device[0], 1.5f, 0.01f);
  EXPECT_EQ(added.device[1], 2);
  EXPECT_NEAR(added.device[2], 0, 1e-5f);
}

TEST(Added, TellsNeighboursInStorageNotApart) {
  const std::array<float, 3> host = {30001, 1, 2};
  const std::array<float, 3> device = {30001.001953125f, 1 + 0x1p-23f, 2};
  EXPECT_EQ(Added(device, host, kTo, false).device, Added(device, host, kTo, false).host);
  const std::array<float, 3> halves = {30016, 1.0009765625f, 2};
  EXPECT_EQ(Added(halves, host, kTo, true).device, Added(halves, host, kTo, true).host);
  EXPECT_NE(Added(halves, host, kTo, false).device, Added(halves, host, kTo, false).host);
}

TEST(Added, KeepsWhatIsNotFinite) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const std::array<float, 3> host = {1, 1, 1}, device = {nan, infinity, -infinity};
  const Added added(device, host, kTo, false);
  EXPECT_TRUE(std::isnan(added.device[0]));
  EXPECT_EQ(added.device[1], infinity);
  EXPECT_EQ(added.device[2], -infinity);
}

}  // namespace
}  // namespace clvet
