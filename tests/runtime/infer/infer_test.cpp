#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

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

TEST(Infer, SaysNothingOfWhatLiesBehindOpenExtents) {
  ModelBuilder model;
  model.input("x", {-1, 2}).input("k", {2});
  model.node("Relu", {"x"}, {"r"});
  model.node("Neg", {"k"}, {"n"});
  model.node("Add", {"r", "n"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  EXPECT_EQ(graph.nodes.size(), 3u);
  EXPECT_FALSE(graph.values[graph.find_value("r")].type());
  EXPECT_EQ(to_string(*graph.values[graph.find_value("n")].type()), "f32[2]");
}

TEST(Infer, ForgetsTypesThatNoLongerHold) {
  Graph graph = dynamic_flatten().build();
  ASSERT_TRUE(infer_and_fold(graph));
  const Graph narrow = specialise(graph, {{"x", {1, 3, 2}}}).value();
  // A graph made for one shape may not be taken for another.
  EXPECT_FALSE(specialise(narrow, {{"x", {2, 3, 2}}}));
  EXPECT_EQ(specialise(graph, {{"x", {7, 3, 2}}})->values.back().type()->shape, (Shape{7, 6}));
}

TEST(Infer, FoldsChainsAndDropsWhatTheyWereMadeOf) {
  ModelBuilder model;
  model.constant("a", {2}, {1, 2}).constant("b", {2}, {10, 20}).input("x", {2});
  model.node("Mul", {"a", "b"}, {"m"});
  model.node("Add", {"m", "a"}, {"s"});
  model.node("Add", {"x", "s"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.values.size(), 3u) << "x, s and y";
  EXPECT_EQ(test::floats(*graph.constant(graph.nodes[0].inputs[1])), (std::vector<float>{11, 42}));
}

TEST(Infer, FoldsEveryOutputOfANode) {
  ModelBuilder model;
  model.constant("a", {4}, {1, 2, 3, 4}).constant_i64("sizes", {1, 3});
  model.node("Split", {"a", "sizes"}, {"p", "q"});
  model.output("p").output("q");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(test::floats(*graph.constant(graph.outputs[1])), (std::vector<float>{2, 3, 4}));
}

TEST(Infer, NamesTheNodeThatCannotBeFolded) {
  ModelBuilder model;
  model.constant("table", {2}, {1, 2}).constant_i64("ids", {5});
  model.node("Gather", {"table", "ids"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  const auto status = infer_and_fold(graph);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("node 'Gather_y' (Gather)"));
}

TEST(Specialise, TakesAnyShapeWhereTheModelStatesNone) {
  ModelBuilder model;
  model.input_of_any_shape("x");
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 3, 4, 5}}) {
    const auto graph = specialise(model.build(), {{"x", shape}});
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(graph->values[graph->outputs[0]].type()->shape, shape);
  }
}

TEST(Specialise, RefusesAConstantsNameAndAnotherRank) {
  const Graph graph = dynamic_flatten().build();
  EXPECT_THAT(specialise(graph, {{"rest", {1}}}).error().message, HasSubstr("no input 'rest'"));
  EXPECT_THAT(specialise(graph, {{"x", {}}}).error().message, HasSubstr("input 'x' is []"));
  EXPECT_FALSE(specialise(graph, {{"x", {1, 3}}}));
}

// y = Reshape(x, shape), and what else the test adds.
ModelBuilder reshaped_by_input(int shape_type = 7) {
  ModelBuilder model;
  model.input("x", {6}).input("shape", {2}, shape_type);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  return model;
}

const std::map<std::string, Tensor>& three_by_two() {
  static const std::map<std::string, Tensor> values = {{"shape", Tensor::of<int64_t>({2}, {3, 2})},
                                                       {"x", test::noise({6})}};
  return values;
}

TEST(Specialise, MakesAConstantOfAnInputThatOnlyDecidesShapes) {
  const auto graph = specialise(reshaped_by_input().build(), {}, three_by_two());
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->inputs.size(), 1u);
  ASSERT_EQ(graph->given.count("shape"), 1u);
  EXPECT_EQ(graph->given.count("x"), 0u) << "x is data";
  EXPECT_EQ(graph->values[graph->outputs[0]].type()->shape, (Shape{3, 2}));
}

TEST(Specialise, MakesAConstantOfAnInputThatAShapeIsComputedFrom) {
  ModelBuilder model;
  model.input("x", {6}).input("count", {1}, 7).constant_i64("one", {1}).constant_i64("rest", {-1});
  model.node("Shape", {"count"}, {"s"});
  model.node("Add", {"count", "one"}, {"rows"});
  test::set_int(model.node("Concat", {"rows", "rest"}, {"shape"}), "axis", 0);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y").output("s");
  const auto graph = specialise(
      model.build(), {}, {{"x", test::noise({6})}, {"count", Tensor::of<int64_t>({1}, {1})}});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->given.count("count"), 1u);
  EXPECT_EQ(graph->given.count("x"), 0u) << "x is data";
  EXPECT_EQ(graph->values[graph->outputs[0]].type()->shape, (Shape{2, 3}));
}

TEST(Specialise, LeavesFloatsThatAParameterIsComputedFrom) {
  ModelBuilder model;
  model.input("x", {1, 1, 2, 2}).input("w", {1, 1, 1, 1});
  model.node("Exp", {"w"}, {"e"});
  model.node("Conv", {"x", "e"}, {"y"});
  model.output("y");
  const auto graph = specialise(
      model.build(), {}, {{"x", test::noise({1, 1, 2, 2})}, {"w", test::noise({1, 1, 1, 1})}});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(graph->given.empty());
}

TEST(Specialise, LeavesWhatBatchNormalizationNormalises) {
  ModelBuilder model;
  model.input("x", {1, 2, 3});
  for (const char* name : {"scale", "bias", "mean", "variance"}) model.input(name, {2});
  model.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
  model.output("y");
  std::map<std::string, Tensor> values = {{"x", test::noise({1, 2, 3})}};
  for (const char* name : {"scale", "bias", "mean", "variance"}) values[name] = test::noise({2});
  const auto graph = specialise(model.build(), {}, values);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->inputs.size(), 1u);
  EXPECT_EQ(graph->given.count("x"), 0u);
}

TEST(Specialise, LeavesAnInputThatIsReadAsDataToo) {
  ModelBuilder also_data = reshaped_by_input();
  also_data.node("Neg", {"shape"}, {"n"});
  also_data.output("n");
  ModelBuilder also_output = reshaped_by_input();
  also_output.output("shape");
  for (const ModelBuilder* model : {&also_data, &also_output}) {
    const auto graph = specialise(model->build(), {}, three_by_two());
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(graph->inputs.size(), 2u);
    EXPECT_TRUE(graph->given.empty());
  }
}

}  // namespace
}  // namespace clvet
