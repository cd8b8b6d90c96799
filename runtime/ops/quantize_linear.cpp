// QuantizeLinear: for a tensor, an axis, or blocks along one.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/quantized_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_quantize_linear {
namespace {

Result<Types> infer(const OpCall& call) {
  const DType x = call.type(0).dtype;
  if (x != DType::kF32 && !is_short_float(x) && x != DType::kI32) return bad_type(call, 0);
  DType dtype = DType::kU8;
  if (call.has(2)) {
    dtype = call.type(2).dtype;
    if (!is_quantized(dtype)) return bad_type(call, 2);
  }
  CLVET_ASSIGN_OR_RETURN(const DType named, type_attribute(call, "output_dtype", dtype));
  if ((call.has(2) && named != dtype) || !is_quantized(named)) {
    return bad_attribute(call, "output_dtype", call.node.int_attr("output_dtype", 0));
  }
  CLVET_RETURN_IF_ERROR(granularity_of(call));
  return Types{{named, call.shape(0)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Granularity granularity, granularity_of(call));
  CLVET_ASSIGN_OR_RETURN(const Tensor x, call.tensor(0).cast(DType::kF32));
  CLVET_ASSIGN_OR_RETURN(const Tensor scale, call.tensor(1).cast(DType::kF32));
  const auto zeros = call.has(2) ? call.tensor(2).to_i64()
                                 : std::vector<int64_t>(static_cast<size_t>(scale.elements()));
  const float *from = x.data<float>(), *scales = scale.data<float>();
  visit_quantized(outputs[0].dtype(), [&]<class T>() {
    T* y = outputs[0].data<T>();
    for_each_scaled(granularity, [&](int64_t i, int64_t s) {
      y[i] = quantized<T>(from[i] / scales[s], zeros[static_cast<size_t>(s)]);
    });
  });
  return {};
}

std::vector<Term> steps(Steps& s) {
  const auto types = infer(s.call());
  if (!types || s.call().type(0).dtype != DType::kF32) return {};
  return {as_levels(s, s.input(0), s.input(1), s.input(2), (*types)[0].dtype)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"QuantizeLinear"},
    .since = 10,
    .inputs = "* f *?",
    .attributes = "axis:i block_size:i output_dtype:i precision:i saturate:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_quantize_linear
