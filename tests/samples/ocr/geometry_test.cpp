#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "samples/ocr/geometry.h"

namespace ocr {
namespace {

using testing::DoubleNear;
using testing::UnorderedElementsAre;

constexpr double kPi = 3.14159265358979;

TEST(Geometry, HullKeepsCornersAndDropsWhatLiesInsideOrOnAnEdge) {
  EXPECT_THAT(convex_hull({{0, 0}, {4, 0}, {2, 0}, {4, 3}, {0, 3}, {2, 2}, {0, 0}}),
              UnorderedElementsAre(Point{0, 0}, Point{4, 0}, Point{4, 3}, Point{0, 3}));
}

// A grid of points filling 60 x 10, turned about its corner.
std::vector<Point> turned_grid(double degrees) {
  const double c = std::cos(degrees * kPi / 180), s = std::sin(degrees * kPi / 180);
  std::vector<Point> points;
  for (int y = 0; y <= 10; ++y) {
    for (int x = 0; x <= 60; ++x) points.push_back({200 + x * c - y * s, 200 + x * s + y * c});
  }
  return points;
}

TEST(Geometry, SmallestRectangleFindsATurnedOneWithItsDirections) {
  for (const double degrees : {0.0, 7.0, -30.0, 44.0}) {
    const Quad quad = smallest_rectangle(turned_grid(degrees));
    EXPECT_NEAR(quad.width(), 60, 1e-9) << degrees;
    EXPECT_NEAR(quad.height(), 10, 1e-9) << degrees;
    EXPECT_NEAR(quad.corner.x, 200, 1e-9) << degrees;
    EXPECT_NEAR(quad.corner.y, 200, 1e-9) << degrees;
    EXPECT_NEAR(quad.across.y, 60 * std::sin(degrees * kPi / 180), 1e-9) << degrees;
    EXPECT_GT(quad.down.y, 0) << degrees;
  }
}

TEST(Geometry, WhatStandsUprightIsHigherThanWide) {
  const Quad quad = smallest_rectangle(turned_grid(80));
  EXPECT_NEAR(quad.width(), 10, 1e-9);
  EXPECT_NEAR(quad.height(), 60, 1e-9);
}

TEST(Geometry, PointsInALineHaveARectangleWithoutHeight) {
  EXPECT_NEAR(smallest_rectangle({{1, 1}, {2, 2}, {3, 3}}).height(), 0, 1e-12);
  EXPECT_NEAR(smallest_rectangle({{5, 5}}).width(), 0, 1e-12);
}

TEST(Geometry, GrowingMovesEveryEdgeOutwards) {
  const Quad quad = Quad{{10, 20}, {30, 0}, {0, 8}}.grown(2);
  EXPECT_EQ(quad.corner, (Point{8, 18}));
  EXPECT_NEAR(quad.width(), 34, 1e-12);
  EXPECT_NEAR(quad.height(), 12, 1e-12);
}

TEST(Geometry, TurnsReadTheSamePlaceFromOtherCorners) {
  const Quad quad{{10, 20}, {30, 0}, {0, 8}};
  EXPECT_EQ(quad.turned_half().at(0, 0), quad.at(1, 1));
  EXPECT_EQ(quad.turned_half().at(1, 0), quad.at(0, 1));
  EXPECT_EQ(quad.turned_quarter().at(0, 0), quad.at(1, 0));
  EXPECT_EQ(quad.turned_quarter().at(1, 0), quad.at(1, 1));
}

TEST(Geometry, ContainsKnowsATurnedQuad) {
  const Quad quad{{0, 0}, {10, 10}, {-5, 5}};
  EXPECT_TRUE(quad.contains({2, 7}));
  EXPECT_FALSE(quad.contains({6, 4}));
  EXPECT_FALSE(quad.contains({-4, 1}));
}

}  // namespace
}  // namespace ocr
