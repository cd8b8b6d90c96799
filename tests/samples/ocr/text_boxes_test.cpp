#include <gmock/gmock.h>

#include <cstddef>
#include <vector>

#include "samples/ocr/geometry.h"
#include "samples/ocr/text_boxes.h"

namespace ocr {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int kWidth = 100, kHeight = 60;

struct Map {
  std::vector<float> values = std::vector<float>(size_t{kWidth} * kHeight, 0.f);

  // Columns x0 to x1 and rows y0 to y1, the last ones included.
  Map& fill(int x0, int y0, int x1, int y1, float value = 0.9f) {
    for (int y = y0; y <= y1; ++y) {
      for (int x = x0; x <= x1; ++x) values[static_cast<size_t>(y) * kWidth + x] = value;
    }
    return *this;
  }
  std::vector<Quad> boxes(const BoxOptions& options = {}) const {
    return find_text_boxes(values, kWidth, kHeight, options);
  }
};

TEST(TextBoxes, ABlockBecomesItsRectangleGrownByAreaOverPerimeter) {
  const auto boxes = Map().fill(10, 20, 49, 29).boxes();
  ASSERT_THAT(boxes, SizeIs(1));
  // Spread by one pixel to the right and down: centres from 10.5 to 50.5 and from 20.5 to 30.5.
  const double grown = 40 * 10 * 1.6 / (2 * (40 + 10));
  EXPECT_NEAR(boxes[0].corner.x, 10.5 - grown, 1e-9);
  EXPECT_NEAR(boxes[0].corner.y, 20.5 - grown, 1e-9);
  EXPECT_NEAR(boxes[0].width(), 40 + 2 * grown, 1e-9);
  EXPECT_NEAR(boxes[0].height(), 10 + 2 * grown, 1e-9);
}

TEST(TextBoxes, PixelsThatTouchAtACornerAreOneBoxAndAGapOfTwoMakesTwo) {
  EXPECT_THAT(Map().fill(10, 10, 20, 20).fill(22, 22, 30, 30).boxes({.box_score = 0}), SizeIs(1));
  EXPECT_THAT(Map().fill(10, 10, 20, 20).fill(23, 10, 33, 20).boxes(), SizeIs(2));
}

TEST(TextBoxes, WhatScoresTooLittleOrIsTooSmallIsNoText) {
  EXPECT_THAT(Map().fill(10, 20, 49, 29, 0.4f).boxes(), IsEmpty());
  EXPECT_THAT(Map().fill(10, 20, 49, 29, 0.4f).boxes({.box_score = 0.3}), SizeIs(1));
  EXPECT_THAT(Map().fill(10, 20, 49, 21).boxes(), IsEmpty());
  EXPECT_THAT(Map().boxes(), IsEmpty());
}

TEST(TextBoxes, TheWholeMapAsTextIsOneBox) {
  EXPECT_THAT(Map().fill(0, 0, kWidth - 1, kHeight - 1).boxes(), SizeIs(1));
}

TEST(TextBoxes, NoMoreBoxesThanAllowed) {
  Map map;
  for (int x = 0; x + 6 < kWidth; x += 12) map.fill(x, 10, x + 6, 20);
  EXPECT_THAT(map.boxes(), SizeIs(8));
  EXPECT_THAT(map.boxes({.most_boxes = 3}), SizeIs(3));
}

}  // namespace
}  // namespace ocr
