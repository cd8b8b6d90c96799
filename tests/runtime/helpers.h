// Small models and single nodes for tests.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "runtime/ops/op_def.h"

namespace clvet::test {

// Builds a ModelProto line by line.
class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 13) {
    model_.set_ir_version(8);
    model_.mutable_graph()->set_name("test");
    model_.add_opset_import()->set_version(opset);
  }

  // A dim below 0 stays open.
  ModelBuilder& input(const std::string& name, const Shape& shape, int onnx_type = 1) {
    auto* value = graph().add_input();
    value->set_name(name);
    auto* type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx_type);
    type->mutable_shape();
    for (const int64_t dim : shape) {
      auto* out = type->mutable_shape()->add_dim();
      if (dim < 0)
        out->set_dim_param("D");
      else
        out->set_dim_value(dim);
    }
    return *this;
  }
  ModelBuilder& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  ModelBuilder& constant(const std::string& name, const Shape& shape,
                         const std::vector<float>& values) {
    fill(*graph().add_initializer(), name, shape, values);
    return *this;
  }
  ModelBuilder& constant_i64(const std::string& name, const std::vector<int64_t>& values) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(7);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    for (const int64_t value : values) tensor->add_int64_data(value);
    return *this;
  }
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    auto* node = graph().add_node();
    node->set_op_type(op);
    node->set_name(op + "_" + outputs.at(0));
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    return *node;
  }

  static void fill(onnx::TensorProto& tensor, const std::string& name, const Shape& shape,
                   const std::vector<float>& values) {
    tensor.set_name(name);
    tensor.set_data_type(1);
    for (const int64_t dim : shape) tensor.add_dims(dim);
    for (const float value : values) tensor.add_float_data(value);
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  onnx::ModelProto& model() { return model_; }
  std::string bytes() const { return model_.SerializeAsString(); }
  Result<Graph> parse() const { return parse_onnx(bytes(), "test.onnx"); }
  // For models that must be right.
  Graph build() const {
    auto graph = parse();
    EXPECT_TRUE(graph) << graph.error().message;
    return graph ? std::move(*graph) : Graph{};
  }

 private:
  onnx::ModelProto model_;
};

inline void set_int(onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(2);
  attribute->set_i(value);
}
inline void set_float(onnx::NodeProto& node, const std::string& name, float value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(1);
  attribute->set_f(value);
}
inline void set_ints(onnx::NodeProto& node, const std::string& name,
                     const std::vector<int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(7);
  for (const int64_t value : values) attribute->add_ints(value);
}

// A node outside any graph.
inline Node make_node(const std::string& op, size_t inputs, Attributes attributes = {},
                      int opset = 13, size_t outputs = 1) {
  Node node;
  node.name = node.op = op;
  node.opset = opset;
  node.def = find_op("", op);
  node.attributes = std::move(attributes);
  for (size_t i = 0; i < inputs; ++i) node.inputs.push_back(static_cast<ValueId>(i));
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(static_cast<ValueId>(inputs + i));
  return node;
}

inline Result<std::vector<Tensor>> run_op(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : inputs) pointers.push_back(&tensor);
  return run_node(node, pointers);
}

// The first output, which must be there.
inline Tensor run_one(const Node& node, const std::vector<Tensor>& inputs) {
  auto outputs = run_op(node, inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? (*outputs)[0] : Tensor();
}

inline OpCall make_call(const Node& node, const std::vector<Tensor>& inputs,
                        const std::vector<bool>& constant) {
  OpCall call{node, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    call.inputs.push_back({inputs[i].type(), constant[i] ? &inputs[i] : nullptr, true});
  }
  return call;
}

inline std::vector<int64_t> list(std::initializer_list<int64_t> values) { return values; }

inline std::vector<float> floats(const Tensor& tensor) {
  EXPECT_EQ(tensor.dtype(), DType::kF32);
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

// Deterministic values in -1..1.
inline Tensor noise(const Shape& shape, uint32_t seed = 1) {
  Tensor tensor = Tensor::create(DType::kF32, shape).value();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    tensor.data<float>()[i] = static_cast<float>(static_cast<int32_t>(seed)) / 2147483648.f;
  }
  return tensor;
}

inline void expect_near(const Tensor& got, const Tensor& want, double relative = 1e-5) {
  ASSERT_EQ(to_string(got.type()), to_string(want.type()));
  const std::vector<double> a = got.to_f64(), b = want.to_f64();
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], relative * std::max(1.0, std::abs(b[i]))) << "element " << i;
  }
}

}  // namespace clvet::test
