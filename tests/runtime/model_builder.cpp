#include "tests/runtime/model_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"

namespace clvet::test {

ModelBuilder::ModelBuilder(int opset) : model_(std::make_unique<onnx::ModelProto>()) {
  model_->set_ir_version(8);
  graph().set_name("test");
  model_->add_opset_import()->set_version(opset);
}

ModelBuilder::~ModelBuilder() = default;

ModelBuilder::ModelBuilder(const ModelBuilder& other)
    : model_(std::make_unique<onnx::ModelProto>(*other.model_)) {}

ModelBuilder& ModelBuilder::input(const std::string& name, const Shape& shape, int onnx_type) {
  auto* value = graph().add_input();
  value->set_name(name);
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx_type);
  type->mutable_shape();
  for (const int64_t dim : shape) {
    auto* out = type->mutable_shape()->add_dim();
    if (dim >= 0) out->set_dim_value(dim);
  }
  return *this;
}

ModelBuilder& ModelBuilder::input_of_any_shape(const std::string& name) {
  auto* value = graph().add_input();
  value->set_name(name);
  value->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
  graph().add_output()->set_name(name);
  return *this;
}

ModelBuilder& ModelBuilder::constant(const std::string& name, const Shape& shape,
                                     const std::vector<float>& values) {
  fill(*graph().add_initializer(), name, shape, values);
  return *this;
}

ModelBuilder& ModelBuilder::constant_i64(const std::string& name,
                                         const std::vector<int64_t>& values) {
  auto* tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(7);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) tensor->add_int64_data(value);
  return *this;
}

onnx::NodeProto& ModelBuilder::node(const std::string& op, const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs) {
  auto* node = graph().add_node();
  node->set_op_type(op);
  node->set_name(op + "_" + outputs.at(0));
  for (const auto& name : inputs) node->add_input(name);
  for (const auto& name : outputs) node->add_output(name);
  return *node;
}

void ModelBuilder::set_op(int node, const std::string& op) {
  graph().mutable_node(node)->set_op_type(op);
}

void ModelBuilder::set_opset(int version) { model_->mutable_opset_import(0)->set_version(version); }

ModelBuilder& ModelBuilder::metadata(const std::string& key, const std::string& value) {
  auto& entry = *model_->add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
  return *this;
}

void ModelBuilder::fill(onnx::TensorProto& tensor, const std::string& name, const Shape& shape,
                        const std::vector<float>& values) {
  tensor.set_name(name);
  tensor.set_data_type(1);
  for (const int64_t dim : shape) tensor.add_dims(dim);
  for (const float value : values) tensor.add_float_data(value);
}

onnx::GraphProto& ModelBuilder::graph() { return *model_->mutable_graph(); }

std::string ModelBuilder::bytes() const { return model_->SerializeAsString(); }

Result<Graph> ModelBuilder::parse() const { return parse_onnx(bytes(), "test.onnx"); }

Graph ModelBuilder::build() const {
  auto graph = parse();
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

onnx::GraphProto branch(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& out) {
  ModelBuilder model;
  model.node(op, inputs, {out});
  model.output(out);
  return model.graph();
}

onnx::NodeProto& add_if(ModelBuilder& model, const onnx::GraphProto& then_branch,
                        const onnx::GraphProto& else_branch) {
  auto& node = model.node("If", {"c"}, {"y"});
  set_graph(node, "then_branch", then_branch);
  set_graph(node, "else_branch", else_branch);
  return node;
}

void set_graph(onnx::NodeProto& node, const std::string& name, const onnx::GraphProto& graph) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(5);
  *attribute->mutable_g() = graph;
}

void set_int(onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(2);
  attribute->set_i(value);
}

void set_float(onnx::NodeProto& node, const std::string& name, float value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(1);
  attribute->set_f(value);
}

void set_ints(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(7);
  for (const int64_t value : values) attribute->add_ints(value);
}

}  // namespace clvet::test
