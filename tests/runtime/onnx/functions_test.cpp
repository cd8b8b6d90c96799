// Nodes that call a function of the model become its nodes.
#include <gmock/gmock.h>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Names = std::initializer_list<const char*>;

onnx::FunctionProto& add_function(ModelBuilder& model, const char* name, Names inputs,
                                  Names outputs) {
  auto& function = *model.model().add_functions();
  function.set_name(name);
  function.set_domain("own");
  for (const char* input : inputs) function.add_input(input);
  for (const char* output : outputs) function.add_output(output);
  return function;
}

onnx::NodeProto& add_node(onnx::FunctionProto& function, const char* op, Names inputs,
                          Names outputs) {
  auto& node = *function.add_node();
  node.set_op_type(op);
  for (const char* input : inputs) node.add_input(input);
  for (const char* output : outputs) node.add_output(output);
  return node;
}

void call(ModelBuilder& model, const char* op, const std::vector<std::string>& inputs,
          const std::vector<std::string>& outputs) {
  model.node(op, inputs, outputs).set_domain("own");
}

std::vector<float> run(const ModelBuilder& model, const std::vector<float>& x = {1, -2}) {
  const auto graph = model.parse();
  EXPECT_TRUE(graph) << graph.error().message;
  if (!graph) return {};
  const auto outputs =
      run_graph(*graph, {{"x", Tensor::from(Shape{2}, std::span<const float>(x))}});
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? test::floats(outputs->at(0)) : std::vector<float>{};
}

std::string fault(const ModelBuilder& model) {
  const auto graph = model.parse();
  return graph ? "" : graph.error().message;
}

// own::Shifted(a, b) = -(a + b), whose value between them has a name that the graph has, too.
ModelBuilder shifted_model() {
  ModelBuilder model;
  model.input("x", {2}).constant("k", {2}, {10, 20});
  auto& function = add_function(model, "Shifted", {"a", "b"}, {"c"});
  add_node(function, "Add", {"a", "b"}, {"k"});
  add_node(function, "Neg", {"k"}, {"c"});
  return model;
}

TEST(Functions, KeepTheirNamesApartFromTheGraphsAndFromEachOther) {
  ModelBuilder model = shifted_model();
  call(model, "Shifted", {"x", "k"}, {"t"});
  call(model, "Shifted", {"t", "k"}, {"y"});
  EXPECT_THAT(run(model.output("y")), ElementsAre(1, -2));
}

TEST(Functions, GetAttributesOfTheCallOrTheirDefaults) {
  ModelBuilder model;
  model.input("x", {2});
  auto& function = add_function(model, "Leak", {"a"}, {"c"});
  auto& usual = *function.add_attribute_proto();
  usual.set_name("slope");
  usual.set_type(1);
  usual.set_f(0.25f);
  auto& refers = *add_node(function, "LeakyRelu", {"a"}, {"c"}).add_attribute();
  refers.set_name("alpha");
  refers.set_type(1);
  refers.set_ref_attr_name("slope");
  call(model, "Leak", {"x"}, {"t"});
  auto& second = model.node("Leak", {"t"}, {"y"});
  second.set_domain("own");
  test::set_float(second, "slope", 0.5f);
  EXPECT_THAT(run(model.output("y")), ElementsAre(1, -0.25f));
}

TEST(Functions, CallEachOtherAndReadFromInsideABranch) {
  ModelBuilder model = shifted_model();
  auto& outer = add_function(model, "Outer", {"a", "k"}, {"c"});
  auto& size = add_node(outer, "ReduceMax", {"a"}, {"most"});
  test::set_int(size, "keepdims", 0);
  add_node(outer, "Cast", {"most"}, {"go"}).set_name("to bool");
  test::set_int(*outer.mutable_node(1), "to", 9);
  auto& choice = add_node(outer, "If", {"go"}, {"c"});
  auto then = test::branch("Shifted", {"a", "k"}, "then");
  then.mutable_node(0)->set_domain("own");
  test::set_graph(choice, "then_branch", then);
  test::set_graph(choice, "else_branch", test::branch("Neg", {"a"}, "else"));
  call(model, "Outer", {"x", "k"}, {"y"});
  EXPECT_THAT(run(model.output("y")), ElementsAre(-11, -18));
}

TEST(Functions, MayGiveAnInputBackAndOneValueTwice) {
  ModelBuilder model;
  model.input("x", {2});
  auto& function = add_function(model, "Same", {"a"}, {"a", "b", "b"});
  add_node(function, "Neg", {"a"}, {"b"});
  call(model, "Same", {"x"}, {"p", "q", "r"});
  model.node("Sub", {"p", "q"}, {"s"});
  model.node("Add", {"s", "r"}, {"y"});
  EXPECT_THAT(run(model.output("y")), ElementsAre(1, -2));
}

TEST(Functions, MayLackAnInput) {
  ModelBuilder model;
  model.input("x", {2});
  auto& function = add_function(model, "Bounded", {"a", "low", "high"}, {"c"});
  add_node(function, "Clip", {"a", "low", "high"}, {"c"});
  call(model, "Bounded", {"x"}, {"y"});
  EXPECT_THAT(run(model.output("y")), ElementsAre(1, -2));
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  ModelBuilder model;
  model.input("x", {2});
  add_node(add_function(model, "A", {"a"}, {"c"}), "B", {"a"}, {"c"}).set_domain("own");
  add_node(add_function(model, "B", {"a"}, {"c"}), "A", {"a"}, {"c"}).set_domain("own");
  call(model, "A", {"x"}, {"y"});
  EXPECT_THAT(fault(model.output("y")), HasSubstr("the function A calls itself"));
}

// Each calls the one before it twice.
TEST(Functions, ThatGrowWithoutMeasureAreRefused) {
  ModelBuilder model;
  model.input("x", {2});
  add_node(add_function(model, "F0", {"a"}, {"c"}), "Neg", {"a"}, {"c"});
  for (int i = 1; i < 60; ++i) {
    const std::string name = "F" + std::to_string(i), before = "F" + std::to_string(i - 1);
    auto& function = add_function(model, name.c_str(), {"a"}, {"c"});
    add_node(function, before.c_str(), {"a"}, {"b"}).set_domain("own");
    add_node(function, before.c_str(), {"b"}, {"c"}).set_domain("own");
  }
  call(model, "F59", {"x"}, {"y"});
  EXPECT_THAT(fault(model.output("y")), HasSubstr("more than clvet reads"));
}

TEST(Functions, ThatCallEachOtherTooDeepAreRefused) {
  ModelBuilder model;
  model.input("x", {2});
  add_node(add_function(model, "F0", {"a"}, {"c"}), "Neg", {"a"}, {"c"});
  for (int i = 1; i < 300; ++i) {
    const std::string name = "F" + std::to_string(i), before = "F" + std::to_string(i - 1);
    add_node(add_function(model, name.c_str(), {"a"}, {"c"}), before.c_str(), {"a"}, {"c"})
        .set_domain("own");
  }
  call(model, "F299", {"x"}, {"y"});
  EXPECT_THAT(fault(model.output("y")), HasSubstr("more than 100 deep"));
}

TEST(Functions, RefuseACallWithMoreInputsThanTheyHave) {
  ModelBuilder model = shifted_model();
  call(model, "Shifted", {"x", "x", "x"}, {"y"});
  EXPECT_THAT(fault(model.output("y")), HasSubstr("gives the function Shifted 3 inputs"));
}

}  // namespace
}  // namespace clvet
