// DequantizeLinear: for a tensor, an axis, or blocks along one.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/quantized_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_dequantize_linear {
namespace {

Result<Types> infer(const OpCall& call) {
  const DType x = call.type(0).dtype;
  if (!is_quantized(x) && x != DType::kI32) return bad_type(call, 0);
  if (call.has(2) && call.type(2).dtype != x) return bad_type(call, 2);
  CLVET_ASSIGN_OR_RETURN(const DType dtype,
                         type_attribute(call, "output_dtype", call.type(1).dtype));
  if (dtype != DType::kF32 && !is_short_float(dtype)) {
    return bad_attribute(call, "output_dtype", call.node.int_attr("output_dtype", 0));
  }
  CLVET_RETURN_IF_ERROR(granularity_of(call));
  return Types{{dtype, call.shape(0)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Granularity granularity, granularity_of(call));
  CLVET_ASSIGN_OR_RETURN(const Tensor scale, call.tensor(1).cast(DType::kF32));
  const auto zeros = call.has(2) ? call.tensor(2).to_i64()
                                 : std::vector<int64_t>(static_cast<size_t>(scale.elements()));
  CLVET_ASSIGN_OR_RETURN(Tensor wide, Tensor::create(DType::kF32, call.shape(0)));
  const float* scales = scale.data<float>();
  float* y = wide.data<float>();
  visit(call.type(0).dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const T* x = call.tensor(0).data<T>();
      for_each_scaled(granularity, [&](int64_t i, int64_t s) {
        const int64_t steps = static_cast<int64_t>(x[i]) - zeros[static_cast<size_t>(s)];
        y[i] = static_cast<float>(steps) * scales[s];
      });
    }
  });
  CLVET_ASSIGN_OR_RETURN(outputs[0], wide.cast(outputs[0].dtype()));
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto types = infer(call);
  // Of 32 bits not all are floats.
  if (!types || (*types)[0].dtype != DType::kF32 || !is_quantized(call.type(0).dtype)) return {};
  return {from_levels(s, s.input(0), s.input(1), s.input(2))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"DequantizeLinear"},
    .since = 10,
    .inputs = "* f *?",
    .wants_known = {2},
    .attributes = "axis:i block_size:i output_dtype:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_dequantize_linear
