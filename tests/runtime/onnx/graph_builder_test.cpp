// Names, attributes, operator sets and subgraphs, from the file to the graph.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::add_if;
using test::branch;
using test::ModelBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ModelBuilder relu_model() {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  return model;
}

std::string fault_of(const ModelBuilder& model) {
  const auto graph = model.parse();
  if (graph) return "accepted";
  EXPECT_THAT(graph.error().message, AllOf(HasSubstr("test.onnx: "), Not(HasSubstr("\n"))));
  EXPECT_NE(graph.error().code, ErrorCode::kInternal);
  return graph.error().message;
}

TEST(GraphBuilder, TakesInitialisersThatAreListedAsInputsForConstants) {
  ModelBuilder model = relu_model();
  model.constant("w", {1}, {3}).input("w", {1});
  const Graph graph = model.build();
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.constant(graph.find_value("w"))->to_f64()[0], 3);
}

TEST(GraphBuilder, KeepsOpenAndUnknownExtents) {
  ModelBuilder model;
  model.input("a", {-1, 3}).input("b", {}).input("c", {0});
  auto* minus_one = model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  minus_one->mutable_shape()->add_dim()->set_dim_value(-1);
  minus_one->mutable_shape()->add_dim();  // neither a value nor a name
  auto* unranked = model.graph().add_input();
  unranked->set_name("d");
  unranked->mutable_type()->mutable_tensor_type()->set_elem_type(7);
  model.node("Identity", {"a"}, {"y"});
  model.output("y");
  const Graph graph = model.build();
  const auto value = [&](const char* name) { return graph.values[graph.find_value(name)]; };
  EXPECT_EQ(value("a").shape, (Shape{-1, 3, -1, -1}));
  EXPECT_EQ(value("b").shape, Shape{});
  EXPECT_EQ(value("c").shape, Shape{0});
  EXPECT_EQ(value("d").shape, std::nullopt);
  EXPECT_EQ(value("d").dtype, DType::kI64);
}

TEST(GraphBuilder, GivesNodesNamesOfTheirOwn) {
  ModelBuilder model;
  model.input("x", {2});
  for (const char* to : {"a", "b", "c", "d"}) model.node("Relu", {"x"}, {to});
  model.graph().mutable_node(0)->set_name("n");
  model.graph().mutable_node(1)->set_name("n");
  model.graph().mutable_node(2)->clear_name();
  model.graph().mutable_node(3)->set_name("c");
  for (const char* name : {"a", "b", "c", "d"}) model.output(name);
  std::vector<std::string> names;
  for (const Node& node : model.build().nodes) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("n", "n#1", "c", "c#1"));
}

TEST(GraphBuilder, ReadsOperatorSetsByDomain) {
  ModelBuilder model = relu_model();
  auto* other = model.model().add_opset_import();
  other->set_domain("com.example");
  other->set_version(3);
  model.graph().add_node()->CopyFrom(model.graph().node(0));
  auto* foreign = model.graph().mutable_node(1);
  foreign->set_domain("com.example");
  foreign->set_output(0, "z");
  model.output("z");
  const auto graph = parse_onnx(model.bytes(), "test.onnx", {.allow_unknown_ops = true});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes[0].opset, 13);
  EXPECT_EQ(graph->nodes[1].opset, 3);
  EXPECT_EQ(graph->nodes[1].def, nullptr) << "Relu of another domain is another operator";
}

// What such an operator takes for granted, no file has shown.
TEST(GraphBuilder, KnowsNoOperatorOfTheDomainThatPassesWriteTo) {
  ModelBuilder model = relu_model();
  auto* own = model.model().add_opset_import();
  own->set_domain(std::string(kStepsDomain));
  own->set_version(1);
  for (const OpDef* def : op_defs()) {
    if (def->domain != kStepsDomain) continue;
    model.graph().mutable_node(0)->set_domain(std::string(kStepsDomain));
    model.graph().mutable_node(0)->set_op_type(std::string(def->names[0].text));
    const auto graph = parse_onnx(model.bytes(), "test.onnx");
    ASSERT_FALSE(graph) << def->names[0].text;
    EXPECT_EQ(graph.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(graph.error().message, testing::HasSubstr(kStepsDomain.data()));
  }
}

TEST(GraphBuilder, TakesTheLongNameOfOnnxsOwnDomain) {
  ModelBuilder model = relu_model();
  model.model().mutable_opset_import(0)->set_domain("ai.onnx");
  model.graph().mutable_node(0)->set_domain("ai.onnx");
  const Graph graph = model.build();
  EXPECT_EQ(graph.nodes[0].domain, "");
  EXPECT_NE(graph.nodes[0].def, nullptr);
}

TEST(GraphBuilder, KeepsTheModelsMetadata) {
  ModelBuilder model = relu_model();
  for (const char* key : {"author", "licence"}) {
    auto* entry = model.model().add_metadata_props();
    entry->set_key(key);
    entry->set_value(std::string("of ") + key);
  }
  EXPECT_EQ(model.build().metadata, (std::map<std::string, std::string>{
                                        {"author", "of author"}, {"licence", "of licence"}}));
}

onnx::AttributeProto& attribute(ModelBuilder& model, const char* name, int type) {
  auto* proto = model.graph().mutable_node(0)->add_attribute();
  proto->set_name(name);
  proto->set_type(type);
  return *proto;
}

TEST(GraphBuilder, ReadsAttributesOfEveryKind) {
  ModelBuilder model = relu_model();
  model.graph().mutable_node(0)->set_op_type("Whatever");
  attribute(model, "f", 1).set_f(0.5f);
  attribute(model, "i", 2).set_i(INT64_MIN);
  attribute(model, "s", 3).set_s(std::string("\0\xff", 2));
  ModelBuilder::fill(*attribute(model, "t", 4).mutable_t(), "", {1}, {9});
  auto& floats = attribute(model, "floats", 6);
  floats.add_floats(1);
  floats.add_floats(-2);
  attribute(model, "ints", 7);
  attribute(model, "strings", 8).add_strings("word");
  const auto graph = parse_onnx(model.bytes(), "test.onnx", {.allow_unknown_ops = true});
  ASSERT_TRUE(graph) << graph.error().message;
  const Node& node = graph->nodes[0];
  EXPECT_EQ(node.float_attr("f", 0), 0.5);
  EXPECT_EQ(node.int_attr("i", 0), INT64_MIN);
  EXPECT_EQ(node.string_attr("s", ""), std::string("\0\xff", 2));
  EXPECT_EQ(node.tensor_attr("t")->to_f64()[0], 9);
  EXPECT_THAT(*node.floats_attr("floats"), ElementsAre(1, -2));
  EXPECT_THAT(*node.ints_attr("ints"), IsEmpty());
  EXPECT_EQ(*node.attributes.at("strings").get_if<std::vector<std::string>>(),
            std::vector<std::string>{"word"});
}

struct Fault {
  const char* name;
  const char* part;
  void (*damage)(ModelBuilder&);
};

const Fault kFaults[] = {
    {"attribute_without_a_name", "it has no name", [](ModelBuilder& m) { attribute(m, "", 2); }},
    {"attribute_of_no_type", "attribute type 0 is not supported",
     [](ModelBuilder& m) { attribute(m, "a", 0); }},
    {"attribute_of_sparse_tensor", "attribute type 11 is not supported",
     [](ModelBuilder& m) { attribute(m, "a", 11); }},
    {"attribute_of_a_function", "refers to an attribute of a function",
     [](ModelBuilder& m) { attribute(m, "a", 2).set_ref_attr_name("outer"); }},
    {"attribute_with_broken_tensor", "attribute 'a': its dims say 2 values",
     [](ModelBuilder& m) {
       auto* tensor = attribute(m, "a", 4).mutable_t();
       tensor->set_data_type(1);
       tensor->add_dims(2);
     }},
    {"input_twice", "the name 'x' is used twice", [](ModelBuilder& m) { m.input("x", {2}); }},
    {"input_without_a_name", "a value has no name", [](ModelBuilder& m) { m.input("", {2}); }},
    {"input_without_a_type", "input 'z' is not a tensor",
     [](ModelBuilder& m) { m.graph().add_input()->set_name("z"); }},
    {"output_named_like_an_input", "the name 'x' is used twice",
     [](ModelBuilder& m) { m.graph().mutable_node(0)->set_output(0, "x"); }},
    {"no_operator", "clvet does not support this operator",
     [](ModelBuilder& m) { m.graph().mutable_node(0)->clear_op_type(); }},
    {"operator_set_zero", "version 0 is not valid",
     [](ModelBuilder& m) { m.model().mutable_opset_import(0)->set_version(0); }},
    {"operator_set_beyond_int", "version 4294967297 is not valid",
     [](ModelBuilder& m) {
       m.model().mutable_opset_import(0)->set_version((int64_t{1} << 32) + 1);
     }},
    {"operator_set_of_another_domain_alone",
     "needs the ONNX operator set, but the model does not name its version",
     [](ModelBuilder& m) { m.model().mutable_opset_import(0)->set_domain("com.example"); }},
    {"operator_set_too_old",
     "has operator set 5, and clvet has Relu from 6 on; export the model again with "
     "opset_version=6",
     [](ModelBuilder& m) { m.model().mutable_opset_import(0)->set_version(5); }},
    {"operator_set_older_than_a_name", "has operator set 17, and clvet has Mish from 18 on",
     [](ModelBuilder& m) {
       m.model().mutable_opset_import(0)->set_version(17);
       m.graph().mutable_node(0)->set_op_type("Mish");
     }},
    {"name_of_another_domain", "does not support this operator of the domain com.microsoft",
     [](ModelBuilder& m) { m.graph().mutable_node(0)->set_domain("com.microsoft"); }},
    {"name_of_another_domain_in_onnxs_own", "clvet does not support this operator;",
     [](ModelBuilder& m) { m.graph().mutable_node(0)->set_op_type("QuickGelu"); }},
    {"unknown_domain_with_a_known_name", "does not support this operator of the domain com.example",
     [](ModelBuilder& m) {
       m.graph().mutable_node(0)->set_op_type("QuickGelu");
       m.graph().mutable_node(0)->set_domain("com.example");
     }},
    {"needed_input_left_out", "needs its input 0",
     [](ModelBuilder& m) { m.graph().mutable_node(0)->set_input(0, ""); }},
};

class GraphFault : public ::testing::TestWithParam<Fault> {};

TEST_P(GraphFault, IsOneLine) {
  ModelBuilder model = relu_model();
  GetParam().damage(model);
  EXPECT_THAT(fault_of(model), HasSubstr(GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(All, GraphFault, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

ModelBuilder if_model(const onnx::GraphProto& then_branch, const onnx::GraphProto& else_branch) {
  ModelBuilder model;
  model.input("c", {}, 9).input("x", {2}).input("z", {2});
  add_if(model, then_branch, else_branch);
  model.output("y");
  return model;
}

std::vector<float> run_if(const ModelBuilder& model, bool condition) {
  const auto run = run_graph(model.build(), {{"c", Tensor::scalar(condition)},
                                             {"x", Tensor::of<float>({2}, {-1, 2})},
                                             {"z", Tensor::of<float>({2}, {10, 20})}});
  EXPECT_TRUE(run) << run.error().message;
  return run ? test::floats(run->front()) : std::vector<float>{};
}

TEST(NamesOfAModel, AreOneLineWithoutControlCharactersAndStayApart) {
  ModelBuilder model;
  model.input("x\x1b[2J", {2}).input("x\nforged: line", {2}).input("x\xEF\xBF\xBD[2J", {2});
  model.node("Add", {"x\x1b[2J", "x\nforged: line"}, {"s\x07"}).set_name("a\x1b]0;b");
  model.node("Add", {"s\x07", "x\xEF\xBF\xBD[2J"}, {"y\xFF"});
  model.output("y\xFF");
  const Graph graph = model.build();
  std::set<std::string> names;
  for (const Value& value : graph.values) {
    EXPECT_EQ(one_line(value.name), value.name);
    EXPECT_TRUE(names.insert(value.name).second) << value.name;
  }
  for (const Node& node : graph.nodes) EXPECT_EQ(one_line(node.label()), node.label());
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x\xEF\xBF\xBD[2J");
}

TEST(Subgraph, ReadsValuesOfTheGraphAroundIt) {
  const ModelBuilder model =
      if_model(branch("Add", {"x", "z"}, "t"), branch("Sub", {"z", "x"}, "e"));
  EXPECT_THAT(run_if(model, true), ElementsAre(9, 22));
  EXPECT_THAT(run_if(model, false), ElementsAre(11, 18));
}

TEST(Subgraph, ReadsThroughTwoGraphsAroundIt) {
  ModelBuilder middle;
  add_if(middle, branch("Neg", {"x"}, "t2"), branch("Neg", {"z"}, "e2"));
  middle.output("y");
  middle.graph().mutable_node(0)->set_output(0, "inner");
  middle.graph().mutable_output(0)->set_name("inner");
  const ModelBuilder model = if_model(middle.graph(), branch("Identity", {"z"}, "e"));
  EXPECT_THAT(run_if(model, true), ElementsAre(1, -2));
  EXPECT_THAT(run_if(model, false), ElementsAre(10, 20));
}

TEST(Subgraph, MayGiveAValueFromOutsideAsItIs) {
  onnx::GraphProto outside;
  outside.add_output()->set_name("x");
  EXPECT_THAT(run_if(if_model(outside, branch("Neg", {"x"}, "e")), true), ElementsAre(-1, 2));
}

TEST(Subgraph, HasConstantsOfItsOwn) {
  onnx::GraphProto body = branch("Add", {"x", "k"}, "t");
  ModelBuilder::fill(*body.add_initializer(), "k", {1}, {100});
  EXPECT_THAT(run_if(if_model(body, branch("Neg", {"x"}, "e")), true), ElementsAre(99, 102));
}

TEST(Subgraph, IsRefusedWithTheNodeThatOwnsIt) {
  const onnx::GraphProto good = branch("Neg", {"x"}, "t");
  onnx::GraphProto without_output = good;
  without_output.clear_output();
  const std::pair<onnx::GraphProto, const char*> rows[] = {
      {without_output, "the graph has no output"},
      {branch("Neg", {"nowhere"}, "t"), "reads 'nowhere', which no node computes"},
      {branch("Frobnicate", {"x"}, "t"), "does not support this operator"},
      {branch("Neg", {"y"}, "t"), "cycle"},
      {branch("Neg", {"t"}, "t"), "cycle"},
  };
  for (const auto& [body, part] : rows) {
    EXPECT_THAT(fault_of(if_model(body, good)), AllOf(HasSubstr("(If)"), HasSubstr(part)));
  }
}

TEST(Subgraph, NestedTooDeepIsNoModel) {
  ModelBuilder model = relu_model();
  onnx::GraphProto body = branch("Neg", {"x"}, "t");
  for (int depth = 0; depth < 200; ++depth) {
    ModelBuilder outer;
    auto& node = outer.node("If", {"c"}, {"t"});
    auto* attribute = node.add_attribute();
    attribute->set_name("then_branch");
    attribute->set_type(5);
    *attribute->mutable_g() = body;
    outer.output("t");
    body = outer.graph();
  }
  model.graph().mutable_node(0)->add_attribute()->mutable_g()->CopyFrom(body);
  EXPECT_THAT(fault_of(model), HasSubstr("not an ONNX model, or incomplete"));
}

}  // namespace
}  // namespace clvet
