// Graphs whose shapes follow from values that are computed: where they are cut.
#include "runtime/infer/cut.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// rows = x widened to as many rows as its largest value says
ModelBuilder widened() {
  ModelBuilder model;
  model.input("x", {1, 4}).constant_i64("one", {1}).constant_i64("four", {4});
  model.node("ReduceMax", {"x"}, {"max"});
  model.node("Reshape", {"max", "one"}, {"first"});
  test::set_int(model.node("Cast", {"first"}, {"n"}), "to", 7);
  test::set_int(model.node("Concat", {"n", "four"}, {"shape"}), "axis", 0);
  model.node("Expand", {"x", "shape"}, {"rows"});
  return model;
}

// y = rows * w
ModelBuilder& multiplied(ModelBuilder& model) {
  model.constant("w", {4, 2}, test::floats(test::noise({4, 2})));
  model.node("MatMul", {"rows", "w"}, {"y"});
  return model.output("y");
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op);
  return ops;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(graph.values[static_cast<size_t>(id)].name);
  return names;
}

Graph folded(const ModelBuilder& model) {
  Graph graph = model.build();
  EXPECT_TRUE(infer_and_fold(graph));
  return graph;
}

TEST(Cut, LiesBehindTheValuesThatDecideShapes) {
  ModelBuilder model = widened();
  const auto cut = cut_at_unknown_shapes(folded(multiplied(model)));
  ASSERT_TRUE(cut);
  EXPECT_THAT(ops_of(cut->before), ElementsAre("ReduceMax", "Reshape", "Cast", "Concat"));
  EXPECT_THAT(names_of(cut->before, cut->before.inputs), ElementsAre("x"));
  EXPECT_THAT(names_of(cut->before, cut->before.outputs), ElementsAre("shape"));
  const Graph& rest = cut->rest.graph;
  EXPECT_THAT(ops_of(rest), ElementsAre("Expand", "MatMul"));
  EXPECT_THAT(names_of(rest, rest.inputs), UnorderedElementsAre("x", "shape"));
  EXPECT_THAT(names_of(rest, rest.outputs), ElementsAre("y"));
  EXPECT_THAT(cut->rest.deciding, ElementsAre("shape"));
}

TEST(Cut, LeavesARestWhoseTypesAreKnownWithTheDecidingValues) {
  ModelBuilder model = widened();
  const auto cut = cut_at_unknown_shapes(folded(multiplied(model)));
  ASSERT_TRUE(cut);
  for (const int64_t rows : {5, 1, 0}) {
    const std::map<std::string, Tensor> values = {{"x", test::noise({1, 4})},
                                                  {"shape", Tensor::of<int64_t>({2}, {rows, 4})}};
    const auto rest = specialise(cut->rest.graph, shapes_of(values), values, cut->rest.deciding);
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(rest->values[static_cast<size_t>(rest->outputs[0])].shape, (Shape{rows, 2}));
    EXPECT_FALSE(cut_at_unknown_shapes(*rest));
  }
}

TEST(Cut, GivesAValueThatDecidesAShapeAlsoWhereSomethingElseReadsIt) {
  ModelBuilder model = widened();
  test::set_int(model.node("Cast", {"shape"}, {"numbers"}), "to", 1);
  const auto cut = cut_at_unknown_shapes(folded(multiplied(model).output("numbers")));
  ASSERT_TRUE(cut);
  EXPECT_THAT(names_of(cut->before, cut->before.outputs), ElementsAre("numbers", "shape"));
  EXPECT_THAT(names_of(cut->rest.graph, cut->rest.graph.outputs), ElementsAre("y"));
}

TEST(Cut, HasBeforeItWhatItsOwnRunAloneTells) {
  ModelBuilder model;
  model.input("x", {3, 4}).constant("w", {2, 5}, std::vector<float>(10, 1));
  model.node("NonZero", {"x"}, {"places"});
  test::set_int(model.node("Cast", {"places"}, {"floats"}), "to", 1);
  model.node("Transpose", {"floats"}, {"turned"});
  model.node("MatMul", {"turned", "w"}, {"y"});
  const auto cut = cut_at_unknown_shapes(folded(model.output("y")));
  ASSERT_TRUE(cut);
  EXPECT_THAT(ops_of(cut->before), ElementsAre("NonZero"));
  EXPECT_THAT(ops_of(cut->rest.graph), ElementsAre("Cast", "Transpose", "MatMul"));
  EXPECT_THAT(cut->rest.deciding, IsEmpty());
}

TEST(Cut, TakesNoManyValuesAsDeciding) {
  ModelBuilder model;
  model.input("x", {100, 4}).input("some", {100}, 9);
  model.constant("w", {4, 2}, std::vector<float>(8, 1));
  test::set_int(model.node("Compress", {"x", "some"}, {"rows"}), "axis", 0);
  model.node("MatMul", {"rows", "w"}, {"y"});
  const auto cut = cut_at_unknown_shapes(folded(model.output("y")));
  ASSERT_TRUE(cut);
  EXPECT_THAT(ops_of(cut->before), ElementsAre("Compress"));
  EXPECT_THAT(cut->rest.deciding, IsEmpty());
}

TEST(Cut, IsNowhereWhereAllTypesAreKnown) {
  ModelBuilder model;
  model.input("rows", {1, 4});
  EXPECT_FALSE(cut_at_unknown_shapes(folded(multiplied(model))));
}

TEST(Cut, IsNowhereWhereTheRestOnlyMovesOrMapsValues) {
  ModelBuilder model = widened();
  model.node("Neg", {"rows"}, {"y"});
  EXPECT_FALSE(cut_at_unknown_shapes(folded(model.output("y"))));
}

TEST(Cut, KeepsInputsThatOnlyTheRestReadsAndValuesThatAnEarlierCallerGave) {
  ModelBuilder model = widened();
  model.input("w", {4, 2}).node("MatMul", {"rows", "w"}, {"y"});
  Graph graph = folded(model.output("y"));
  graph.given["sr"] = Tensor::of<int64_t>({}, {16000});
  const auto cut = cut_at_unknown_shapes(graph);
  ASSERT_TRUE(cut);
  EXPECT_THAT(names_of(cut->before, cut->before.inputs), ElementsAre("x", "w"));
  EXPECT_THAT(names_of(cut->rest.graph, cut->rest.graph.inputs),
              UnorderedElementsAre("x", "w", "shape"));
  EXPECT_TRUE(cut->before.given.contains("sr"));
  EXPECT_THAT(cut->rest.graph.given, IsEmpty());
}

}  // namespace
}  // namespace clvet
