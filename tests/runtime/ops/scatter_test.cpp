// ScatterElements, ScatterND and GatherND: results by hand, and indices that lie.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::counting;
using test::i64s;
using test::make_node;
using test::refusal;
using test::run_one;
using test::word;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScatterElements, WritesAlongItsAxisAndCountsNegativeIndicesFromTheEnd) {
  const Tensor data = counting({2, 3});
  const Tensor where = Tensor::of<int64_t>({2, 1}, {-1, 0});
  const Tensor updates = Tensor::of<float>({2, 1}, {10, 20});
  EXPECT_THAT(test::floats(run_one(make_node("ScatterElements", 3, {{"axis", int64_t{1}}}),
                                   {data, where, updates})),
              ElementsAre(0, 1, 10, 20, 4, 5));
}

TEST(ScatterElements, ReducesWhatFallsOnOnePlace) {
  const Tensor data = Tensor::of<int32_t>({2}, {3, 4}), where = i64s({1, 1, 0});
  const Tensor updates = Tensor::of<int32_t>({3}, {5, 2, 7});
  const auto by = [&](const char* reduction) {
    return run_one(make_node("ScatterElements", 3, {{"reduction", word(reduction)}}),
                   {data, where, updates})
        .to_i64();
  };
  EXPECT_THAT(by("add"), ElementsAre(10, 11));
  EXPECT_THAT(by("mul"), ElementsAre(21, 40));
  EXPECT_THAT(by("max"), ElementsAre(7, 5));
  EXPECT_THAT(by("min"), ElementsAre(3, 2));
}

TEST(ScatterNd, WritesRowsAndReduces) {
  const Tensor data = counting({3, 2}), where = Tensor::of<int64_t>({2, 1}, {2, -3});
  const Tensor rows = Tensor::of<float>({2, 2}, {7, 8, 9, 10});
  EXPECT_THAT(test::floats(run_one(make_node("ScatterND", 3), {data, where, rows})),
              ElementsAre(9, 10, 2, 3, 7, 8));
  EXPECT_THAT(test::floats(run_one(make_node("ScatterND", 3, {{"reduction", word("add")}}),
                                   {data, where, rows})),
              ElementsAre(9, 11, 2, 3, 11, 13));
}

TEST(GatherNd, TakesElementsRowsAndBatches) {
  const Tensor data = counting({2, 2, 2});
  EXPECT_THAT(test::floats(run_one(make_node("GatherND", 2),
                                   {data, Tensor::of<int64_t>({2, 3}, {0, 0, 1, 1, -1, 0})})),
              ElementsAre(1, 6));
  EXPECT_THAT(test::floats(run_one(make_node("GatherND", 2, {{"batch_dims", int64_t{1}}}),
                                   {data, Tensor::of<int64_t>({2, 1}, {1, 0})})),
              ElementsAre(2, 3, 4, 5));
}

TEST(IndicesOutside, AreRefusedAndNothingIsReadOrWrittenThere) {
  const Tensor data = counting({2, 3}), one = Tensor::of<float>({1, 1}, {1});
  for (const int64_t bad : {int64_t{3}, int64_t{-4}, std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
    const Tensor where = Tensor::of<int64_t>({1, 1}, {bad});
    EXPECT_THAT(
        refusal(make_node("ScatterElements", 3, {{"axis", int64_t{1}}}), {data, where, one}),
        HasSubstr("out of range"));
    const Tensor pair = Tensor::of<int64_t>({1, 2}, {0, bad});
    EXPECT_THAT(refusal(make_node("ScatterND", 3), {data, pair, Tensor::of<float>({1}, {1})}),
                HasSubstr("out of range"));
    EXPECT_THAT(refusal(make_node("GatherND", 2), {data, pair}), HasSubstr("out of range"));
  }
}

TEST(Scatter, RefusesShapesThatDoNotFit) {
  const Tensor data = counting({2, 3});
  EXPECT_THAT(refusal(make_node("ScatterElements", 3),
                      {data, Tensor::of<int64_t>({1, 4}, {}), counting({1, 4})}),
              HasSubstr("do not fit"));
  EXPECT_THAT(
      refusal(make_node("ScatterND", 3), {data, Tensor::of<int64_t>({1, 3}, {}), counting({1})}),
      HasSubstr("do not fit"));
  EXPECT_THAT(
      refusal(make_node("ScatterND", 3), {data, Tensor::of<int64_t>({1, 1}, {}), counting({1, 2})}),
      HasSubstr("do not fit"));
  EXPECT_THAT(refusal(make_node("GatherND", 2, {{"batch_dims", int64_t{2}}}),
                      {data, Tensor::of<int64_t>({2, 3}, {})}),
              HasSubstr("batch_dims"));
}

}  // namespace
}  // namespace clvet
