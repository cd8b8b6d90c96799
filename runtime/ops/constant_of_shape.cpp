// ConstantOfShape.
#include <algorithm>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_constant_of_shape {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Shape shape, call.integers(0));
  const Tensor* value = call.node.tensor_attr("value");
  if (value && value->elements() != 1) {
    return fail(ErrorCode::kInvalidArgument, "ConstantOfShape takes one value, not {}",
                value->elements());
  }
  return Types{{value ? value->dtype() : DType::kF32, shape}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor* value = call.node.tensor_attr("value");
  if (!value) return {};
  visit_size(size_of(value->dtype()), [&]<class T>() {
    std::fill_n(outputs[0].data<T>(), outputs[0].elements(), *value->data<T>());
  });
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ConstantOfShape"},
    .since = 9,
    .inputs = "l",
    .attributes = "value:t",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_constant_of_shape
