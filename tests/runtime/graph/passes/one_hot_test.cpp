// Products of one-hot rows as rows of the other factor.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using test::ops_after;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr int kI64 = 7, kFloat = 1;
const std::vector<float> kMatrix = {1, 2, 3, 4, 5, 6};  // [3, 2]

// Cast(x == counts) * matrix.
ModelBuilder one_hot_product(const std::vector<int64_t>& counts, const std::vector<float>& matrix) {
  ModelBuilder model(13);
  model.input("x", {2, 3, 1}, kI64).constant_i64("counts", counts);
  model.constant("matrix", {static_cast<int64_t>(counts.size()), 2}, matrix);
  model.node("Equal", {"x", "counts"}, {"hot"});
  test::set_int(model.node("Cast", {"hot"}, {"rows"}), "to", kFloat);
  model.node("MatMul", {"rows", "matrix"}, {"y"});
  model.output("y");
  return model;
}

TEST(GatherOneHot, TakesRowsAndNothingForPlacesBeyondThem) {
  const Tensor x = Tensor::of<int64_t>({2, 3, 1}, {0, 2, 1, 3, -1, int64_t{1} << 40});
  const Tensor want = Tensor::of<float>({2, 3, 2}, {1, 2, 5, 6, 3, 4, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT(ops_after(one_hot_product({0, 1, 2}, kMatrix), gather_one_hot, {{"x", x}}, want),
              ElementsAre("Reshape", "Clip", "Gather"));
}

TEST(GatherOneHot, LeavesPlacesThatDoNotCountFromZero) {
  for (const std::vector<int64_t>& counts : {std::vector<int64_t>{1, 2, 3}, {0, 2, 1}}) {
    Graph graph = test::folded(one_hot_product(counts, kMatrix));
    gather_one_hot(graph);
    EXPECT_THAT(test::ops_of(graph), Not(Contains("Gather")));
  }
}

TEST(GatherOneHot, LeavesAMatrixThatMakesNanOfZeros) {
  Graph graph = test::folded(
      one_hot_product({0, 1, 2}, {1, 2, 3, std::numeric_limits<float>::infinity(), 5, 6}));
  gather_one_hot(graph);
  EXPECT_THAT(test::ops_of(graph), Not(Contains("Gather")));
}

}  // namespace
}  // namespace clvet
