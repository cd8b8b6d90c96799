#include <gmock/gmock.h>

#include <vector>

#include "samples/ocr/geometry.h"
#include "samples/ocr/reading_order.h"

namespace ocr {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three lines, the first of two pieces; the pieces' tops differ a little.
const std::vector<Quad> kPage = {{{50, 12}, {40, 0}, {0, 10}},
                                 {{5, 50}, {80, 0}, {0, 10}},
                                 {{5, 10}, {40, 0}, {0, 10}},
                                 {{5, 30}, {80, 0}, {0, 10}}};

// The page as it lies when it was turned to the right so many quarters of a circle.
std::vector<Quad> turned(int quarters) {
  std::vector<Quad> page = kPage;
  const auto turn = [](Point point) { return Point{-point.y, point.x}; };
  for (int i = 0; i < quarters; ++i) {
    for (Quad& quad : page) quad = {turn(quad.corner), turn(quad.across), turn(quad.down)};
  }
  return page;
}

TEST(ReadingOrder, LinesFromTopToBottomAndPiecesOfALineFromLeftToRight) {
  EXPECT_THAT(reading_order(kPage), ElementsAre(2, 0, 3, 1));
}

TEST(ReadingOrder, APageOnItsSideOrUpsideDownIsReadAsItWasWritten) {
  for (const int quarters : {1, 2, 3}) {
    EXPECT_THAT(reading_order(turned(quarters)), ElementsAre(2, 0, 3, 1)) << quarters;
  }
}

TEST(ReadingOrder, APageWithoutTextHasNone) { EXPECT_THAT(reading_order({}), IsEmpty()); }

}  // namespace
}  // namespace ocr
