// DynamicQuantizeLSTM of com.microsoft: an LSTM whose weights are integers, [directions, from, to],
// and which rounds its input and its state to 8 bits before each product.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/lstm.h"
#include "runtime/ops/support/recurrent.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_dynamic_quantize_lstm {
namespace {

enum Input : size_t { kX, kW, kR, kPeepholes = 7, kWScale, kWZero, kRScale, kRZero };

// A scale and a zero point for each direction, or for each of its columns.
Status check_weights(const OpCall& call, size_t weights, size_t scale, size_t zero) {
  const Shape& shape = call.shape(weights);
  const DType dtype = call.type(weights).dtype;
  if (shape.size() != 3) return bad_shape(call, weights);
  if (dtype != DType::kI8 && dtype != DType::kU8) return bad_type(call, weights);
  const Shape whole{shape[0]}, columns{shape[0], shape[2]};
  if (call.type(scale).dtype != DType::kF32) return bad_type(call, scale);
  if (call.shape(scale) != whole && call.shape(scale) != columns)
    return misfit(call, weights, scale);
  if (call.type(zero).dtype != dtype) return bad_type(call, zero);
  if (call.shape(zero) != call.shape(scale)) return misfit(call, scale, zero);
  return {};
}

// The call as LSTM has it: its weights are floats, [directions, to, from].
Result<OpCall> typed(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(check_weights(call, kW, kWScale, kWZero));
  CLVET_RETURN_IF_ERROR(check_weights(call, kR, kRScale, kRZero));
  OpCall plain{call.node, call.inputs};
  plain.inputs.resize(kPeepholes + 1);
  for (const size_t i : {kW, kR}) {
    TensorType& type = plain.inputs[i].type;
    type.dtype = DType::kF32;
    std::swap(type.shape[1], type.shape[2]);
  }
  return plain;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const OpCall plain, typed(call));
  return infer_lstm(plain);
}

Result<Tensor> dequantised(const OpCall& call, size_t weights, size_t scale, size_t zero) {
  const Shape& shape = call.shape(weights);
  const int64_t from = shape[1], to = shape[2];
  const bool each = call.shape(scale).size() == 2;
  CLVET_ASSIGN_OR_RETURN(Tensor out, Tensor::create(DType::kF32, {shape[0], to, from}));
  const auto fill = [&]<class T>() {
    const T *q = call.tensor(weights).data<T>(), *zeros = call.tensor(zero).data<T>();
    const float* scales = call.tensor(scale).data<float>();
    for (int64_t d = 0; d < shape[0]; ++d) {
      for (int64_t j = 0; j < to; ++j) {
        const int64_t at = each ? d * to + j : d;
        for (int64_t i = 0; i < from; ++i) {
          const int level = int{q[(d * from + i) * to + j]} - int{zeros[at]};
          out.data<float>()[(d * to + j) * from + i] = static_cast<float>(level) * scales[at];
        }
      }
    }
  };
  if (call.type(weights).dtype == DType::kI8)
    fill.template operator()<int8_t>();
  else
    fill.template operator()<uint8_t>();
  return out;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(OpCall plain, typed(call));
  CLVET_ASSIGN_OR_RETURN(const Tensor w, dequantised(call, kW, kWScale, kWZero));
  CLVET_ASSIGN_OR_RETURN(const Tensor r, dequantised(call, kR, kRScale, kRZero));
  Tensor x = Tensor::from(call.shape(kX), call.tensor(kX).values<float>());
  round_dynamically({x.data<float>(), static_cast<size_t>(x.elements())});
  plain.inputs[kX].value = &x;
  plain.inputs[kW].value = &w;
  plain.inputs[kR].value = &r;
  return run_lstm(plain, true, outputs);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"DynamicQuantizeLSTM"},
    .domain = kMicrosoft,
    .inputs = "T * * T? i? T? T? T? * * * *",
    .types = "s",
    .wants_known = {kW, kR, kWScale, kWZero, kRScale, kRZero},
    .attributes =
        "activation_alpha:F activation_beta:F activations:S clip:f "
        "direction:s=forward|reverse|bidirectional "
        "hidden_size:i input_forget:i",
    .max_outputs = 3,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_dynamic_quantize_lstm
