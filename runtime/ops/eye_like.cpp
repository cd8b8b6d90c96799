// EyeLike: ones on a diagonal.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_eye_like {
namespace {

Result<Types> infer(const OpCall& call) {
  if (call.shape(0).size() != 2) return bad_shape(call, 0);
  CLVET_ASSIGN_OR_RETURN(const DType dtype, type_attribute(call, "dtype", call.type(0).dtype));
  return Types{{dtype, call.shape(0)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const int64_t rows = call.shape(0)[0], columns = call.shape(0)[1];
  const int64_t k = std::clamp(call.node.int_attr("k", 0), -rows, columns);
  CLVET_ASSIGN_OR_RETURN(Tensor ones, Tensor::create(DType::kU8, call.shape(0)));
  for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row)
    ones.data<uint8_t>()[row * columns + row + k] = 1;
  CLVET_ASSIGN_OR_RETURN(outputs[0], ones.cast(outputs[0].dtype()));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"EyeLike"},
    .since = 9,
    .inputs = "*",
    .attributes = "dtype:i k:i",
    .moves_elements = true,
    .needs_values = false,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_eye_like
