// What the writer writes, the reader reads; onnx's own checker does in tests/cli/diagnose_onnx.py.
#include "runtime/onnx/writer.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using testing::HasSubstr;

// The writer wants to know what outputs are.
Graph typed(Graph graph, const Shape& shape) {
  for (const ValueId out : graph.outputs) {
    graph.values[static_cast<size_t>(out)].dtype = DType::kF32;
    graph.values[static_cast<size_t>(out)].shape = shape;
  }
  return graph;
}

Graph negation() {
  test::ModelBuilder model;
  model.input("x", {2}).node("Neg", {"x"}, {"y"});
  return model.output("y").build();
}

Graph again(const Graph& graph) {
  const auto bytes = format_onnx(graph);
  EXPECT_TRUE(bytes) << bytes.error().message;
  auto read = parse_onnx(bytes ? *bytes : "", "again.onnx");
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(*read) : Graph{};
}

Tensor output_of(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  const auto outputs = run_graph(graph, inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? outputs->at(0) : Tensor();
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_GT(a.elements(), 0);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(a.raw()), a.bytes()),
            std::string(reinterpret_cast<const char*>(b.raw()), b.bytes()));
}

TEST(OnnxWriter, KeepsConstantsAttributesAndNames) {
  test::ModelBuilder model;
  model.input("in put", {1, 2, 5, 5}).constant("w", {3, 2, 3, 3}, std::vector<float>(54, 0.1f));
  auto& conv = model.node("Conv", {"in put", "w"}, {"c"});
  conv.set_name("a \"conv\"");
  test::set_ints(conv, "strides", {2, 2});
  test::set_ints(conv, "pads", {1, 1, 1, 1});
  test::set_float(model.node("LeakyRelu", {"c"}, {"y"}), "alpha", 0.3f);
  const Graph graph = typed(model.output("y").build(), {1, 3, 3, 3}), read = again(graph);
  EXPECT_EQ(read.nodes[0].name, "a \"conv\"");
  EXPECT_EQ(read.nodes[1].opset, graph.nodes[1].opset);
  const std::map<std::string, Tensor> inputs{{"in put", test::noise({1, 2, 5, 5})}};
  expect_same(output_of(read, inputs), output_of(graph, inputs));
}

TEST(OnnxWriter, KeepsEveryElementType) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    Tensor tensor = Tensor::create(dtype, {2, 1}).value();
    if (!is_short_float(dtype)) *tensor.raw() = std::byte{1};
    Graph graph = typed(negation(), {2});
    graph.add_constant("k", tensor);
    const Graph read = again(graph);
    const ValueId id = read.find_value("k");
    ASSERT_NE(read.constant(id), nullptr) << to_string(dtype);
    expect_same(*read.constant(id), tensor);
  }
}

TEST(OnnxWriter, KeepsABranchAndWhatItReadsFromOutside) {
  test::ModelBuilder model;
  model.input("c", {}, 9).input("x", {3}).input("z", {3});
  test::add_if(model, test::branch("Add", {"x", "z"}, "sum"), test::branch("Neg", {"x"}, "neg"));
  const Graph graph = typed(model.output("y").build(), {3}), read = again(graph);
  EXPECT_EQ(read.nodes.at(0).inputs.size(), graph.nodes[0].inputs.size());
  onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(format_onnx(graph).value_or("")));
  EXPECT_EQ(written.graph().node(0).input_size(), 1) << "ONNX's If takes the condition alone";
  for (const bool which : {true, false}) {
    const std::map<std::string, Tensor> inputs{{"c", Tensor::scalar(which)},
                                               {"x", Tensor::of<float>({3}, {1, 2, 3})},
                                               {"z", Tensor::of<float>({3}, {4, 5, 6})}};
    expect_same(output_of(read, inputs), output_of(graph, inputs));
  }
}

TEST(OnnxWriter, LeavesAnAbsentInputEmpty) {
  test::ModelBuilder model;
  model.input("x", {2}).constant("high", {}, {1});
  model.node("Clip", {"x", "", "high"}, {"y"});
  const Graph read = again(typed(model.output("y").build(), {2}));
  EXPECT_EQ(read.nodes[0].inputs.at(1), kNoValue);
}

TEST(OnnxWriter, RefusesAnOutputOfUnknownType) {
  const auto bytes = format_onnx(negation());
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().message, HasSubstr("'y'"));
}

TEST(OnnxWriter, RefusesANodeThatAPassChanged) {
  Graph graph = typed(negation(), {2});
  graph.nodes[0].activation.act = Act::kRelu;
  EXPECT_FALSE(format_onnx(graph));
}

TEST(OnnxWriter, RefusesMoreConstantsThanTheFormatHolds) {
  Graph graph = typed(negation(), {2});
  // The size is asked for before the bytes.
  graph.add_constant("huge", Tensor::wrap(DType::kF32, {1 << 15, 1 << 15}, nullptr));
  const auto bytes = format_onnx(graph);
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().message, HasSubstr("4294967296 bytes"));
}

}  // namespace
}  // namespace clvet
