// Einsum, GridSample, RoiAlign, NonMaxSuppression, CenterCropPad and the losses: small results by
// hand, and what is refused. tests/cli/random_operators.py compares random ones with onnxruntime.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::counting;
using test::floats;
using test::i64s;
using test::make_node;
using test::noise;
using test::refusal;
using test::run_one;
using test::word;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

TEST(Einsum, JoinsSumsAndTakesDiagonals) {
  const Tensor a = Tensor::of<float>({2, 2}, {1, 2, 3, 4}), v = Tensor::of<float>({2}, {10, 1});
  const auto run = [&](const char* equation, const std::vector<Tensor>& inputs) {
    return floats(
        run_one(make_node("Einsum", inputs.size(), {{"equation", word(equation)}}), inputs));
  };
  EXPECT_THAT(run("ij,j->i", {a, v}), ElementsAre(12, 34));
  EXPECT_THAT(run("ii", {a}), ElementsAre(5));
  EXPECT_THAT(run("ji", {a}), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(run("...j->j", {a}), ElementsAre(4, 6));
}

TEST(Einsum, RefusesEquationsThatDoNotFitTheInputs) {
  const Tensor a = counting({2, 3});
  for (const char* equation : {"", "ijk", "ij,jk->ik", "ii", "ij->ik", "ij->ii", "i.j", "i..j",
                               "ij->i1", "i->j", "...i...", "ij->...ij1"}) {
    EXPECT_THAT(refusal(make_node("Einsum", 1, {{"equation", word(equation)}}), {a}),
                HasSubstr("equation"))
        << equation;
  }
}

TEST(GridSample, ReadsNothingFarOutsideAndThatOfNan) {
  const Tensor x = Tensor::of<float>({1, 1, 1, 2}, {3, 5});
  const float far = 1e38f, nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor grid = Tensor::of<float>({1, 1, 4, 2}, {0, 0, far, 0, -far, far, nan, 0});
  const auto run = [&](const char* padding) {
    return floats(
        run_one(make_node("GridSample", 2, {{"padding_mode", word(padding)}}, 20), {x, grid}));
  };
  EXPECT_THAT(run("zeros"), ElementsAre(4, 0, 0, 0));
  EXPECT_THAT(run("border"), ElementsAre(4, 5, 3, 3));
  EXPECT_THAT(refusal(make_node("GridSample", 2), {x, noise({1, 1, 4, 3})}), HasSubstr("fit"));
  EXPECT_THAT(refusal(make_node("GridSample", 2), {noise({1, 1, 0, 2}), grid}),
              HasSubstr("cannot have the shape"));
}

TEST(NonMaxSuppression, KeepsTheBestOfBoxesThatOverlap) {
  const Tensor boxes = Tensor::of<float>({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9f, 2, 2, 3, 3});
  const Tensor scores = Tensor::of<float>({1, 1, 3}, {0.5f, 0.8f, 0.1f});
  const Node node = make_node("NonMaxSuppression", 4);
  EXPECT_THAT(run_one(node, {boxes, scores, i64s({9}), Tensor::scalar(0.5f)}).to_i64(),
              ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_EQ(run_one(make_node("NonMaxSuppression", 2), {boxes, scores}).shape(), (Shape{0, 3}));
  EXPECT_THAT(refusal(node, {boxes, scores, i64s({9}), Tensor::scalar(1.5f)}),
              HasSubstr("cannot be 1.5"));
  EXPECT_THAT(refusal(node, {boxes, noise({1, 1, 4}), i64s({9}), Tensor::scalar(0.5f)}),
              HasSubstr("do not fit"));
}

TEST(RoiAlign, CountsImagesBelow0FromTheEnd) {
  const Tensor x = Tensor::of<float>({2, 1, 1, 1}, {3, 5}),
               rois = Tensor::of<float>({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1});
  EXPECT_THAT(floats(run_one(make_node("RoiAlign", 3), {x, rois, i64s({-1, -2})})),
              ElementsAre(5, 3));
}

TEST(RoiAlign, KeepsNanAmongTheLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::of<float>({1, 1, 1, 2}, {1, nan}),
               roi = Tensor::of<float>({1, 4}, {0, 0, 2, 1});
  EXPECT_THAT(
      floats(run_one(make_node("RoiAlign", 3, {{"mode", word("max")}}), {x, roi, i64s({0})})),
      ElementsAre(IsNan()));
}

TEST(RoiAlign, RefusesImagesAndSizesThatAreNotThere) {
  const Tensor x = noise({1, 1, 4, 4}), roi = Tensor::of<float>({1, 4}, {0, 0, 2, 2});
  for (const int64_t image : {1, -2}) {
    EXPECT_THAT(refusal(make_node("RoiAlign", 3), {x, roi, i64s({image})}),
                HasSubstr("out of range"));
  }
  EXPECT_THAT(
      refusal(make_node("RoiAlign", 3, {{"output_width", int64_t{0}}}), {x, roi, i64s({0})}),
      HasSubstr("output_width"));
  const Tensor huge =
      Tensor::of<float>({1, 4}, {0, 0, 1e38f, std::numeric_limits<float>::infinity()});
  EXPECT_THAT(floats(run_one(make_node("RoiAlign", 3), {x, huge, i64s({0})})), ElementsAre(0));
}

TEST(CenterCropPad, RefusesSizesThatLie) {
  EXPECT_THAT(refusal(make_node("CenterCropPad", 2), {counting({2, 2}), i64s({1})}),
              HasSubstr("do not fit"));
  EXPECT_THAT(refusal(make_node("CenterCropPad", 2), {counting({2}), i64s({-1})}),
              HasSubstr("cannot be -1"));
}

TEST(NegativeLogLikelihoodLoss, LeavesOutTheIndexToIgnoreAndRefusesNoClass) {
  const Tensor x = Tensor::of<float>({2, 2}, {-1, -2, -3, -4});
  EXPECT_THAT(
      floats(run_one(make_node("NegativeLogLikelihoodLoss", 2, {{"ignore_index", int64_t{-7}}}),
                     {x, i64s({1, -7})})),
      ElementsAre(2));
  EXPECT_THAT(refusal(make_node("NegativeLogLikelihoodLoss", 2), {x, i64s({1, 2})}),
              HasSubstr("out of range"));
  EXPECT_THAT(refusal(make_node("NegativeLogLikelihoodLoss", 2), {x, noise({2})}),
              HasSubstr("the type f32"));
}

}  // namespace
}  // namespace clvet
