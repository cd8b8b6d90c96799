#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

ModelBuilder conv_model() {
  ModelBuilder model;
  model.input("x", {-1, 1, 4, 4}).constant("w", {1, 1, 3, 3}, std::vector<float>(9, 1.f));
  test::set_ints(model.node("Conv", {"x", "w"}, {"c"}), "pads", {1, 1, 1, 1});
  model.node("Relu", {"c"}, {"y"});
  model.output("y");
  return model;
}

void expect_fault(const Result<Graph>& graph, const std::string& part) {
  ASSERT_FALSE(graph) << "accepted; expected: " << part;
  EXPECT_THAT(graph.error().message, HasSubstr(part));
  EXPECT_THAT(graph.error().message, HasSubstr("test.onnx"));
  EXPECT_THAT(graph.error().message, Not(HasSubstr("\n")));
}

TEST(OnnxReader, ReadsNodesConstantsAndOpenDims) {
  const Graph graph = conv_model().build();
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op, "Conv");
  EXPECT_EQ(graph.nodes[0].opset, 13);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.inputs[0]].shape, (Shape{-1, 1, 4, 4}));
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
}

TEST(OnnxReader, OrdersNodesThatTheFileHasOutOfOrder) {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Relu", {"b"}, {"y"});
  model.node("Sigmoid", {"x"}, {"b"});
  model.output("y");
  const Graph graph = model.build();
  EXPECT_EQ(graph.nodes[0].op, "Sigmoid");
}

TEST(OnnxReader, RefusesEveryTruncationWithOneLine) {
  const std::string whole = conv_model().bytes();
  int refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto graph = parse_onnx(whole.substr(0, length), "test.onnx");
    if (graph) continue;  // a cut between two top-level fields may leave a whole model
    ++refused;
    EXPECT_THAT(graph.error().message, Not(HasSubstr("\n")));
    EXPECT_THAT(graph.error().message, HasSubstr("test.onnx"));
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) - 40);
}

TEST(OnnxReader, SurvivesEveryFlippedByte) {
  const std::string whole = conv_model().bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto graph = parse_onnx(damaged, "test.onnx");
      EXPECT_THAT(graph ? "" : graph.error().message, Not(HasSubstr("\n")));
    }
  }
}

TEST(OnnxReader, RefusesGarbage) {
  expect_fault(parse_onnx("", "test.onnx"), "empty");
  expect_fault(parse_onnx("GIF89a not a model at all", "test.onnx"), "not an ONNX model");
  expect_fault(parse_onnx(std::string(1000, '\xff'), "test.onnx"), "not an ONNX model");
  EXPECT_EQ(read_onnx("/nonexistent/m.onnx").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(read_onnx("/tmp"));
}

struct Fault {
  const char* name;
  const char* part;
  void (*damage)(ModelBuilder& model);
};

onnx::TensorProto& weights(ModelBuilder& model) { return *model.graph().mutable_initializer(0); }

const Fault kFaults[] = {
    {"no_graph", "no graph", [](ModelBuilder& m) { m.model().clear_graph(); }},
    {"no_opset", "operator set", [](ModelBuilder& m) { m.model().clear_opset_import(); }},
    {"old_opset", "operator set",
     [](ModelBuilder& m) { m.model().mutable_opset_import(0)->set_version(99); }},
    {"absurd_opset", "is not valid",
     [](ModelBuilder& m) { m.model().mutable_opset_import(0)->set_version(-3); }},
    {"no_output", "no output", [](ModelBuilder& m) { m.graph().clear_output(); }},
    {"unknown_output", "no node computes the output 'z'", [](ModelBuilder& m) { m.output("z"); }},
    {"unknown_input", "reads 'q'",
     [](ModelBuilder& m) { m.graph().mutable_node(1)->set_input(0, "q"); }},
    {"unknown_op", "does not support this operator",
     [](ModelBuilder& m) { m.graph().mutable_node(1)->set_op_type("Frobnicate"); }},
    {"unknown_domain", "of the domain com.example",
     [](ModelBuilder& m) { m.graph().mutable_node(1)->set_domain("com.example"); }},
    {"cycle", "cycle", [](ModelBuilder& m) { m.graph().mutable_node(0)->set_input(0, "y"); }},
    {"duplicate_value", "'c' is used twice", [](ModelBuilder& m) { m.node("Relu", {"x"}, {"c"}); }},
    {"duplicate_initialiser", "'w' is used twice",
     [](ModelBuilder& m) { m.constant("w", {1}, {1.f}); }},
    {"too_few_inputs", "needs its input 1",
     [](ModelBuilder& m) { m.graph().mutable_node(0)->mutable_input()->RemoveLast(); }},
    {"too_many_inputs", "takes at most 1 inputs",
     [](ModelBuilder& m) { m.graph().mutable_node(1)->add_input("x"); }},
    {"too_many_outputs", "cannot have 2 outputs",
     [](ModelBuilder& m) { m.graph().mutable_node(1)->add_output("more"); }},
    {"unknown_attribute", "no attribute 'zap'",
     [](ModelBuilder& m) { test::set_int(*m.graph().mutable_node(0), "zap", 1); }},
    {"wrong_kind_of_attribute", "no attribute 'group' of the kind 'f'",
     [](ModelBuilder& m) { test::set_float(*m.graph().mutable_node(0), "group", 1); }},
    {"repeated_attribute", "given twice",
     [](ModelBuilder& m) { test::set_ints(*m.graph().mutable_node(0), "pads", {}); }},
    {"negative_dim", "negative", [](ModelBuilder& m) { weights(m).set_dims(0, -1); }},
    {"overflowing_dims", "too many elements",
     [](ModelBuilder& m) {
       weights(m).set_dims(0, int64_t{1} << 62);
       weights(m).set_dims(1, int64_t{1} << 62);
     }},
    {"huge_dims", "data has 9", [](ModelBuilder& m) { weights(m).set_dims(0, int64_t{1} << 36); }},
    {"raw_data_lie", "raw data has 5",
     [](ModelBuilder& m) {
       weights(m).clear_float_data();
       weights(m).set_raw_data("12345");
     }},
    {"missing_data", "data has 0", [](ModelBuilder& m) { weights(m).clear_float_data(); }},
    {"unknown_dtype", "element type 77", [](ModelBuilder& m) { weights(m).set_data_type(77); }},
    {"string_dtype", "element type 8", [](ModelBuilder& m) { weights(m).set_data_type(8); }},
    {"external_data", "another file", [](ModelBuilder& m) { weights(m).set_data_location(1); }},
    {"not_a_tensor", "not a tensor",
     [](ModelBuilder& m) { m.graph().mutable_input(0)->mutable_type()->clear_tensor_type(); }},
    {"input_dtype", "element type 8",
     [](ModelBuilder& m) {
       m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
     }},
    {"negative_input_dim", "extent -7",
     [](ModelBuilder& m) {
       m.graph()
           .mutable_input(0)
           ->mutable_type()
           ->mutable_tensor_type()
           ->mutable_shape()
           ->mutable_dim(0)
           ->set_dim_value(-7);
     }},
};

class OnnxFault : public ::testing::TestWithParam<Fault> {};

TEST_P(OnnxFault, IsOneLineThatNamesFileAndFault) {
  ModelBuilder model = conv_model();
  GetParam().damage(model);
  expect_fault(model.parse(), GetParam().part);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxFault, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

TEST(OnnxReader, KeepsUnknownOperatorsWhereAskedTo) {
  ModelBuilder model = conv_model();
  model.graph().mutable_node(1)->set_op_type("Frobnicate");
  const auto graph = parse_onnx(model.bytes(), "test.onnx", {.allow_unknown_ops = true});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes[1].def, nullptr);
  EXPECT_NE(graph->nodes[0].def, nullptr);
}

TEST(OnnxReader, CleansNamesInMessages) {
  ModelBuilder model = conv_model();
  model.graph().mutable_node(1)->set_op_type("Bad\nName\x01\xff");
  expect_fault(model.parse(), "Bad Name");
}

TEST(OnnxReader, ReadsRawDataOfEveryType) {
  ModelBuilder model;
  model.input("x", {2});
  auto* tensor = model.graph().add_initializer();
  tensor->set_name("c");
  tensor->set_data_type(10);
  tensor->add_dims(2);
  tensor->set_raw_data(std::string("\x00\x3c\x00\xc0", 4));  // 1, -2 as halves
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  const Graph graph = model.build();
  const Tensor* constant = graph.constant(graph.find_value("c"));
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->to_f64(), (std::vector<double>{1, -2}));
}

}  // namespace
}  // namespace clvet
