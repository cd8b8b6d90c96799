// DynamicQuantizeLinear: to u8 with a range that holds 0.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

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
  const float scale = (high - low) / 255.f;
  const float zero = scale > 0 ? std::nearbyint(std::clamp(-low / scale, 0.f, 255.f)) : 0.f;
  auto* y = outputs[0].data<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const float q = scale > 0 ? std::nearbyint(values[i] / scale) + zero : zero;
    y[i] = saturated<uint8_t>(q);
  }
  if (outputs.size() > 1) *outputs[1].data<float>() = scale;
  if (outputs.size() > 2) *outputs[2].data<uint8_t>() = saturated<uint8_t>(zero);
  return {};
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
};

}  // namespace clvet::op_dynamic_quantize_linear
