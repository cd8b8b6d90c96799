// Constant: the value is in an attribute.
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_constant {
namespace {

Result<Tensor> value_of(const Node& node) {
  if (const Tensor* tensor = node.tensor_attr("value")) return *tensor;
  if (node.attributes.contains("value_int")) return Tensor::scalar(node.int_attr("value_int", 0));
  if (node.attributes.contains("value_float")) {
    return Tensor::scalar(static_cast<float>(node.float_attr("value_float", 0)));
  }
  if (const auto* ints = node.ints_attr("value_ints")) {
    return Tensor::from(Shape{static_cast<int64_t>(ints->size())}, std::span<const int64_t>(*ints));
  }
  if (const auto* floats = node.floats_attr("value_floats")) {
    const std::vector<float> narrow(floats->begin(), floats->end());
    return Tensor::from(Shape{static_cast<int64_t>(narrow.size())}, std::span<const float>(narrow));
  }
  return fail(ErrorCode::kUnsupported, "Constant without a numeric value is not supported");
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Tensor value, value_of(call.node));
  return Types{value.type()};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(outputs[0], value_of(call.node));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Constant"},
    .inputs = "",
    .attributes = "value:t value_int:i value_float:f value_ints:I value_floats:F",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_constant
