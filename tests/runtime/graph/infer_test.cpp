#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/infer.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

// y = Reshape(x, [Shape(x)[0], -1]), as exporters write a flatten.
ModelBuilder dynamic_flatten() {
  ModelBuilder model;
  model.input("x", {-1, 3, -1}).constant_i64("zero", {0}).constant_i64("rest", {-1});
  model.node("Shape", {"x"}, {"s"});
  test::set_int(model.node("Gather", {"s", "zero"}, {"n"}), "axis", 0);
  test::set_int(model.node("Concat", {"n", "rest"}, {"shape"}), "axis", 0);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  return model;
}

TEST(Infer, LeavesOpenShapesOpen) {
  Graph graph = dynamic_flatten().build();
  ASSERT_TRUE(infer_and_fold(graph));
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_FALSE(graph.values[graph.outputs[0]].type());
}

TEST(Infer, FoldsShapeArithmeticOnceShapesAreGiven) {
  const Graph graph = dynamic_flatten().build();
  const auto special = specialise(graph, {{"x", {5, 3, 4}}});
  ASSERT_TRUE(special) << special.error().message;
  ASSERT_EQ(special->nodes.size(), 1u);
  EXPECT_EQ(special->nodes[0].op, "Reshape");
  EXPECT_EQ(special->values[special->outputs[0]].type()->shape, (Shape{5, 12}));
  const auto other = specialise(graph, {{"x", {2, 3, 1}}});
  EXPECT_EQ(other->values[other->outputs[0]].type()->shape, (Shape{2, 3}));
}

TEST(Infer, RefusesShapesThatTheModelDoesNotAllow) {
  const Graph graph = dynamic_flatten().build();
  EXPECT_THAT(specialise(graph, {{"x", {5, 4, 4}}}).error().message, HasSubstr("[?,3,?]"));
  EXPECT_THAT(specialise(graph, {{"q", {5}}}).error().message, HasSubstr("no input 'q'"));
  EXPECT_FALSE(specialise(graph, {{"x", {-5, 3, 1}}}));
  EXPECT_FALSE(specialise(graph, {{"x", {int64_t{1} << 40, 3, int64_t{1} << 40}}}));
}

TEST(Infer, LeavesRowNumbersIntoFloatsToChangeFromRunToRun) {
  const std::map<std::string, Tensor> ids = {{"ids", Tensor::of<int64_t>({2}, {3, -1})}};
  ModelBuilder floats;
  floats.constant("table", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).input("ids", {2}, 7);
  floats.node("Gather", {"table", "ids"}, {"y"});
  floats.output("y");
  const auto open = specialise(floats.build(), {}, ids);
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ(open->inputs.size(), 1u);
  EXPECT_TRUE(open->given.empty());

  ModelBuilder integers;
  integers.constant_i64("sizes", {4, 5, 6, 7}).input("ids", {2}, 7);
  integers.node("Gather", {"sizes", "ids"}, {"y"});
  integers.output("y");
  EXPECT_EQ(specialise(integers.build(), {}, ids)->given.size(), 1u) << "a shape may hang on them";
}

TEST(Infer, NamesTheNodeWhoseShapesClash) {
  ModelBuilder model;
  model.input("x", {2, 3}).constant("w", {4, 5}, std::vector<float>(20, 1.f));
  model.node("MatMul", {"x", "w"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  const auto status = infer_and_fold(graph);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("MatMul_y"));
  EXPECT_THAT(status.error().message, HasSubstr("[2,3]"));
}

TEST(Infer, FoldsConstantsIntoOutputs) {
  ModelBuilder model;
  model.constant("a", {2}, {1, 2}).constant("b", {2}, {10, 20});
  model.node("Add", {"a", "b"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(test::floats(*graph.constant(graph.outputs[0])), (std::vector<float>{11, 22}));
}

TEST(Infer, DoesNotFoldWhatIsTooLarge) {
  ModelBuilder model;
  model.constant_i64("shape", {1 << 14, 1 << 14});
  model.node("ConstantOfShape", {"shape"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.values[graph.outputs[0]].type()->shape, (Shape{1 << 14, 1 << 14}));
}

TEST(Infer, ForgedShapesAreErrorsNotAllocations) {
  ModelBuilder model;
  model.constant_i64("shape", {int64_t{1} << 39, int64_t{1} << 39});
  model.node("ConstantOfShape", {"shape"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  EXPECT_THAT(infer_and_fold(graph).error().message, HasSubstr("too many elements"));
}

}  // namespace
}  // namespace clvet
