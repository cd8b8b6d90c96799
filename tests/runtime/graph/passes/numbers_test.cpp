// A number in place of NaN.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
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
using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Where(IsNaN(x), number, x), or with Not and the operands the other way round.
ModelBuilder choice(bool otherwise, const std::vector<int64_t>& shape_of_number = {}) {
  ModelBuilder model(20);
  model.input("x", {2, 2}).constant("number", shape_of_number, {7});
  model.node("IsNaN", {"x"}, {"nan"});
  if (otherwise) model.node("Not", {"nan"}, {"sound"});
  if (otherwise) model.node("Where", {"sound", "x", "number"}, {"y"});
  if (!otherwise) model.node("Where", {"nan", "number", "x"}, {"y"});
  model.output("y");
  return model;
}

TEST(RecogniseNumbers, MakesOneStepOfAChoiceByIsNan) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, kNan, -3, kNan});
  const Tensor want = Tensor::of<float>({2, 2}, {1, 7, -3, 7});
  for (const bool otherwise : {false, true}) {
    EXPECT_THAT(ops_after(choice(otherwise), recognise_numbers, {{"x", x}}, want),
                ElementsAre("NumberOr"));
  }
}

TEST(RecogniseNumbers, LeavesANumberThatAddsAxes) {
  Graph graph = test::folded(choice(false, {1, 1, 1}));
  recognise_numbers(graph);
  EXPECT_THAT(test::ops_of(graph), ElementsAre("IsNaN", "Where"));
}

TEST(RecogniseNumbers, LeavesAChoiceByAnotherValue) {
  ModelBuilder model(20);
  model.input("x", {2, 2}).input("z", {2, 2}).constant("number", {}, {7});
  model.node("IsNaN", {"z"}, {"nan"});
  model.node("Where", {"nan", "number", "x"}, {"y"});
  model.output("y");
  Graph graph = test::folded(model);
  recognise_numbers(graph);
  EXPECT_THAT(test::ops_of(graph), ElementsAre("IsNaN", "Where"));
}

}  // namespace
}  // namespace clvet
