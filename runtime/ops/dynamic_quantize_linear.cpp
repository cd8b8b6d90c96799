// DynamicQuantizeLinear: to u8 with a range that holds 0.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_dynamic_quantize_linear {
namespace {

Result<Types> infer(const OpCall& call) {
  return Types{{DType::kU8, call.shape(0)}, {DType::kF32, {}}, {DType::kU8, {}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const auto values = call.tensor(0).values<float>();
  float low = 0, high = 0;
  for (const float v : values) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const auto [scale, zero] = byte_levels(low, high);
  auto* y = outputs[0].data<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i)
    y[i] = saturated<uint8_t>(std::nearbyint(values[i] / scale) + zero);
  if (outputs.size() > 1) *outputs[1].data<float>() = scale;
  if (outputs.size() > 2) *outputs[2].data<uint8_t>() = saturated<uint8_t>(zero);
  return {};
}

std::vector<Term> steps(Steps& s) {
  const Term x = s.input(0);
  if (x.type.dtype != DType::kF32 || elements_of(x.shape()) == 0) return {};
  const Term ends = s.one(kLevelExtremes.data(), {x});
  const Term scale = s.one(kLevelScale.data(), {ends}), zero = s.one(kLevelZero.data(), {ends});
  const Term levels = s.one(kLevels.data(), {x, scale, zero}, {{"lo", 0.0}, {"hi", 255.0}});
  const Attributes bytes{{"to", onnx_of_dtype(DType::kU8)}};
  return {s.one(kAsIntegers.data(), {levels}, bytes), scale,
          s.one(kAsIntegers.data(), {zero}, bytes)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"DynamicQuantizeLinear"},
    .since = 11,
    .types = "s",
    .min_outputs = 3,
    .max_outputs = 3,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_dynamic_quantize_linear
