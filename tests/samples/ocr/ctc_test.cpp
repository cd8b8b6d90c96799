#include "samples/ocr/ctc.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace ocr {
namespace {

const std::vector<std::string> kCharacters = {"a", "\u4e2d", " "};

TEST(Ctc, TakesTheBestOfEachStepWithoutRepeatsAndBlanks) {
  const std::vector<float> scores = {0.1F, 0.9F, 0, 0,  //
                                     0.1F, 0.8F, 0, 0,  // the same again: one character
                                     0.9F, 0.1F, 0, 0,  // the blank
                                     0.3F, 0.7F, 0, 0,  //
                                     0,    0,    0, 1,  //
                                     0,    0,    1, 0};
  const DecodedText text = decode_line(scores, kCharacters);
  EXPECT_EQ(text.text, "aa \u4e2d");
  EXPECT_NEAR(text.score, (0.9 + 0.7 + 1 + 1) / 4, 1e-6) << "the mean of the kept steps";
}

TEST(Ctc, ALineOfBlanksIsEmptyAndScoresNothing) {
  const DecodedText text = decode_line(std::vector<float>{1, 0, 0, 0}, kCharacters);
  EXPECT_EQ(text.text, "");
  EXPECT_EQ(text.score, 0);
}

}  // namespace
}  // namespace ocr
