#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/decode/ctc.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kLetters = {"a", "ß", " "};

// Scores whose best class at each step is given.
Tensor scores(const std::vector<std::vector<int>>& rows, float best = 0.75f) {
  const auto steps = static_cast<int64_t>(rows[0].size());
  Tensor tensor =
      Tensor::create(DType::kF32, {static_cast<int64_t>(rows.size()), steps, 4}).value();
  float* out = tensor.data<float>();
  for (const auto& row : rows) {
    for (const int step : row) {
      for (int c = 0; c < 4; ++c) *out++ = c == step ? best : 0.1f;
    }
  }
  return tensor;
}

TEST(Ctc, RepeatsAreOneLetterUnlessABlankStandsBetweenThem) {
  const auto texts = decode_ctc(scores({{1, 1, 0, 1, 2, 2}}), kLetters);
  ASSERT_TRUE(texts);
  EXPECT_EQ((*texts)[0].text, "aaß");
  EXPECT_DOUBLE_EQ((*texts)[0].score, 0.75);
}

TEST(Ctc, EachRowOfABatchIsATextOfItsOwn) {
  const auto texts = decode_ctc(scores({{1, 3, 2}, {0, 0, 2}}), kLetters);
  ASSERT_TRUE(texts);
  EXPECT_EQ((*texts)[0].text, "a ß");
  EXPECT_EQ((*texts)[1].text, "ß");
}

TEST(Ctc, OnlyBlanksAreAnEmptyTextOfScoreZero) {
  const auto texts = decode_ctc(scores({{0, 0}}), kLetters);
  ASSERT_TRUE(texts);
  EXPECT_EQ((*texts)[0].text, "");
  EXPECT_EQ((*texts)[0].score, 0);
}

TEST(Ctc, AnOutputOfAnotherShapeIsRefusedWithBothShapes) {
  const auto texts = decode_ctc(Tensor::create(DType::kF32, {1, 2, 5}).value(), kLetters);
  ASSERT_FALSE(texts);
  EXPECT_THAT(texts.error().message, HasSubstr("f32[1,2,5]"));
  EXPECT_THAT(texts.error().message, HasSubstr("f32[N,T,4]"));
}

TEST(Ctc, CharactersComeFromTheMetadataWithASpaceAtTheEnd) {
  Graph graph;
  graph.metadata["character"] = "'\r\n懮\nx\n";
  const auto characters = ctc_characters(graph);
  ASSERT_TRUE(characters);
  EXPECT_THAT(*characters, ElementsAre("'", "懮", "x", " "));
}

TEST(Ctc, AModelWithoutCharactersIsNamedSo) {
  const auto characters = ctc_characters(Graph{});
  ASSERT_FALSE(characters);
  EXPECT_THAT(characters.error().message, HasSubstr("character"));
}

TEST(Ctc, TakesTheFirstOfEqualClassesAndScoresByTheMean) {
  Tensor two = scores({{1, 0, 2}});
  two.data<float>()[1] = 0.25f;      // step 0: class 1 is best with 0.25
  two.data<float>()[8 + 1] = 0.75f;  // step 2: classes 1 and 2 are alike
  const auto texts = decode_ctc(two, kLetters);
  ASSERT_TRUE(texts);
  EXPECT_EQ((*texts)[0].text, "aa");
  EXPECT_DOUBLE_EQ((*texts)[0].score, 0.5);
}

TEST(Ctc, NoStepsAreAnEmptyTextAndNoRowsAreNone) {
  EXPECT_EQ(decode_ctc(Tensor::create(DType::kF32, {2, 0, 4}).value(), kLetters)->size(), 2u);
  EXPECT_EQ(decode_ctc(Tensor::create(DType::kF32, {0, 3, 4}).value(), kLetters)->size(), 0u);
}

TEST(Ctc, RefusesOtherTypesAndRanks) {
  for (const Tensor& other :
       {Tensor::create(DType::kF64, {1, 2, 4}).value(), Tensor::create(DType::kF32, {2, 4}).value(),
        Tensor::create(DType::kF32, {1, 1, 2, 4}).value(), Tensor(), Tensor::scalar(1.f)}) {
    EXPECT_FALSE(decode_ctc(other, kLetters)) << to_string(other.type());
  }
}

TEST(Ctc, CharactersOfAnEmptyListAreTheSpaceAlone) {
  Graph graph;
  graph.metadata["character"] = "";
  EXPECT_THAT(*ctc_characters(graph), ElementsAre(" "));
  graph.metadata["character"] = "a\xff\n\nb";
  EXPECT_THAT(*ctc_characters(graph), ElementsAre("a\xEF\xBF\xBD", "", "b", " "))
      << "a class without a character keeps its number";
}

}  // namespace
}  // namespace clvet
