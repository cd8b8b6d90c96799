#include "tests/runtime/helpers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/width.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet::test {

Node make_node(const std::string& op, size_t inputs, Attributes attributes, int opset,
               size_t outputs) {
  Node node;
  node.name = node.op = op;
  node.opset = opset;
  node.def = find_op("", op);
  node.attributes = std::move(attributes);
  for (size_t i = 0; i < inputs; ++i) node.inputs.push_back(static_cast<ValueId>(i));
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(static_cast<ValueId>(inputs + i));
  return node;
}

Node microsoft_node(const std::string& op, size_t inputs, Attributes attributes, size_t outputs) {
  Node node = make_node(op, inputs, std::move(attributes), 1, outputs);
  node.domain = kMicrosoft;
  node.def = find_op(node.domain, op);
  return node;
}

Result<std::vector<Tensor>> run_op(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : inputs) pointers.push_back(&tensor);
  return run_node(node, pointers);
}

Tensor run_one(const Node& node, const std::vector<Tensor>& inputs) {
  auto outputs = run_op(node, inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? (*outputs)[0] : Tensor();
}

OpCall make_call(const Node& node, const std::vector<Tensor>& inputs,
                 const std::vector<bool>& constant) {
  OpCall call{node, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    call.inputs.push_back({inputs[i].type(), constant[i] ? &inputs[i] : nullptr, true});
  }
  return call;
}

std::vector<int64_t> list(std::initializer_list<int64_t> values) { return values; }

void at_each_width(const std::function<void()>& fn) {
  for (const Width width : widths()) {
    SCOPED_TRACE(fmt::format("vectors of {} bytes", 16 << static_cast<int>(width)));
    use_width(width);
    fn();
  }
  use_width(widths().back());
}

std::vector<float> floats(const Tensor& tensor) {
  EXPECT_EQ(tensor.dtype(), DType::kF32);
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

Tensor noise(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::create(DType::kF32, shape).value();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    tensor.data<float>()[i] = static_cast<float>(static_cast<int32_t>(seed)) / 2147483648.f;
  }
  return tensor;
}

void expect_near(const Tensor& got, const Tensor& want, double relative) {
  ASSERT_EQ(to_string(got.type()), to_string(want.type()));
  const std::vector<double> a = got.to_f64(), b = want.to_f64();
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], relative * std::max(1.0, std::abs(b[i]))) << "element " << i;
  }
}

}  // namespace clvet::test
