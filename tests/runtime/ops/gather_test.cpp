// Gather and GatherElements against their index formulas.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::i64s;
using test::Index;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::HasSubstr;

Node on_axis(const char* op, int64_t axis) { return make_node(op, 2, {{"axis", axis}}); }

// out[i.., j.., k..] = data[i.., indices[j..], k..].
TEST(Gather, TakesWhatTheFormulaSaysOnAnyAxis) {
  const Tensor x = noise({3, 4, 5}, 31);
  const Grid data(x);
  for (const int64_t axis : {0, 1, 2, -1, -2, -3}) {
    const auto at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    for (const Tensor& indices :
         {Tensor::scalar<int64_t>(-1), i64s({2, 0, -3}), Tensor::of<int64_t>({2, 2}, {0, 1, 1, -2}),
          Tensor::of<int32_t>({1, 1, 2}, {-3, 2}).cast(DType::kI64).value()}) {
      const Grid chosen(indices);
      const auto more = static_cast<ptrdiff_t>(indices.rank());
      Shape out = x.shape();
      out.erase(out.begin() + static_cast<ptrdiff_t>(at));
      out.insert(out.begin() + static_cast<ptrdiff_t>(at), indices.shape().begin(),
                 indices.shape().end());
      const Grid want(out, [&](const Index& to) {
        const auto first = to.begin() + static_cast<ptrdiff_t>(at);
        const auto index = static_cast<int64_t>(chosen.at(Index(first, first + more)));
        Index from(to.begin(), first);
        from.push_back(index < 0 ? index + x.dim(static_cast<int64_t>(at)) : index);
        from.insert(from.end(), first + more, to.end());
        return data.at(from);
      });
      test::expect_grid(test::run_one(on_axis("Gather", axis), {x, indices}), want, 0);
    }
  }
}

TEST(Gather, TakesInt32IndicesAndElementsOfAnySize) {
  const Tensor indices = Tensor::of<int32_t>({2}, {1, -2});
  for (const DType dtype : {DType::kBool, DType::kF16, DType::kBF16, DType::kI32, DType::kF64}) {
    const Tensor data = Tensor::of<float>({2}, {0, 1}).cast(dtype).value();
    const Tensor y = test::run_one(on_axis("Gather", 0), {data, indices});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.to_f64(), (std::vector<double>{1, 0}));
  }
}

TEST(Gather, OfNoIndicesOrOfEmptyRowsIsEmpty) {
  EXPECT_EQ(test::run_one(on_axis("Gather", 1), {noise({2, 3, 4}), i64s({})}).shape(),
            (Shape{2, 0, 4}));
  EXPECT_EQ(test::run_one(on_axis("Gather", 0), {noise({2, 0}), i64s({1})}).shape(), (Shape{1, 0}));
  EXPECT_EQ(test::run_one(on_axis("Gather", 0), {noise({0, 3}), i64s({})}).shape(), (Shape{0, 3}));
}

TEST(Gather, RefusesIndicesOutOfRangeByNameOfIndexAndAxis) {
  for (const int64_t index : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    const auto why = refusal(on_axis("Gather", 1), {noise({2, 3}), i64s({0, index})});
    EXPECT_THAT(why, HasSubstr("index " + std::to_string(index)));
    EXPECT_THAT(why, HasSubstr("axis 1"));
  }
  EXPECT_THAT(refusal(on_axis("Gather", 0), {noise({0, 3}), i64s({0})}), HasSubstr("index 0"));
  EXPECT_THAT(refusal(on_axis("Gather", 2), {noise({2, 3}), i64s({0})}), HasSubstr("axis 2"));
  EXPECT_THAT(refusal(on_axis("Gather", 0), {Tensor::scalar(1.f), i64s({0})}), HasSubstr("rank 0"));
  EXPECT_THAT(refusal(on_axis("Gather", 0), {noise({2}), noise({1})}),
              HasSubstr("does not support the type f32"));
}

TEST(Gather, LowersEvenDistancesToAMoveAndOthersToAGather) {
  const auto op_of = [](const std::vector<int64_t>& indices) {
    const Lowering lowering =
        test::lowered(on_axis("Gather", 0), {noise({9, 4}), i64s(indices)}, View::kChannelsLast);
    return lowering.calls.empty() ? lowering.reason : lowering.calls[0].op;
  };
  EXPECT_EQ(op_of({1, 3, 5}), "move");
  EXPECT_EQ(op_of({8, 4, 0}), "move");
  EXPECT_EQ(op_of({2, 2, 2}), "move");
  EXPECT_EQ(op_of({-1}), "move");
  EXPECT_EQ(op_of({1, 3, 4}), "gather");
  EXPECT_EQ(op_of({9}), "an index is out of range");
  EXPECT_EQ(op_of({INT64_MIN}), "an index is out of range");
}

// out[i][j][k] = data[index[i][j][k]][j][k] and so on for the other axes.
TEST(GatherElements, TakesWhatTheFormulaSaysOnAnyAxis) {
  const Tensor x = noise({3, 4, 5}, 31);
  const Grid data(x);
  const Shape out = {3, 2, 5};
  for (const int64_t axis : {0, 1, 2, -1, -3}) {
    const auto at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    Tensor indices = Tensor::create(DType::kI64, out).value();
    const int64_t extent = x.shape()[at];
    for (int64_t i = 0; i < indices.elements(); ++i) {
      indices.data<int64_t>()[i] = i * 7 % (2 * extent) - extent;
    }
    const Grid chosen(indices);
    const Grid want(out, [&](Index to) {
      const auto index = static_cast<int64_t>(chosen.at(to));
      to[at] = index < 0 ? index + extent : index;
      return data.at(to);
    });
    test::expect_grid(test::run_one(on_axis("GatherElements", axis), {x, indices}), want, 0);
  }
}

TEST(GatherElements, TakesMoreThanThereAreAlongItsAxis) {
  const Tensor indices = Tensor::of<int64_t>({1, 4}, {0, 1, 0, -1});
  const Tensor y =
      test::run_one(on_axis("GatherElements", 1), {Tensor::of<int8_t>({1, 2}, {5, -6}), indices});
  EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{5, -6, 5, -6}));
}

TEST(GatherElements, RefusesIndicesAndShapesThatDoNotFit) {
  const auto why = [](const Shape& data, const Shape& shape, int64_t index) {
    Tensor indices = Tensor::create(DType::kI64, shape).value();
    if (indices.elements()) indices.data<int64_t>()[indices.elements() - 1] = index;
    return refusal(on_axis("GatherElements", 0), {noise(data), indices});
  };
  for (const int64_t index : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(why({2, 3}, {2, 3}, index), HasSubstr("index that is out of range"));
  }
  EXPECT_THAT(why({2, 3}, {2, 4}, 0), HasSubstr("[2,3] and its input 1 of the shape [2,4]"));
  EXPECT_THAT(why({2, 3}, {2}, 0), HasSubstr("[2,3] and its input 1 of the shape [2]"));
  EXPECT_THAT(why({}, {}, 0), HasSubstr("of the shape []"));
  EXPECT_THAT(why({0, 3}, {1, 3}, 0), HasSubstr("index that is out of range"));
  EXPECT_EQ(why({2, 3}, {0, 3}, 0), "(accepted)");
}

}  // namespace
}  // namespace clvet
