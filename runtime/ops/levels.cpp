// Levels: quantised numbers as floats (runtime/ops/contract/steps_domain.h).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_levels {
namespace {

Result<Types> infer(const OpCall& call) {
  for (const size_t i : {size_t{0}, size_t{1}, size_t{2}}) {
    if (call.type(i).dtype != DType::kF32) return bad_type(call, i);
    if (i > 0 && elements_of(call.shape(i)) != 1) return bad_shape(call, i);
  }
  return infer_same(call);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const float scale = call.tensor(1).data<float>()[0];
  const double zero = call.tensor(2).data<float>()[0];
  const double lo = call.node.float_attr("lo", 0), hi = call.node.float_attr("hi", 255);
  const int64_t kind = call.node.int_attr("kind", 0);
  const float* x = call.tensor(0).data<float>();
  float* y = outputs[0].data<float>();
  for (int64_t i = 0; i < outputs[0].elements(); ++i) {
    const double number = static_cast<double>(std::nearbyint(x[i] / scale)) + zero;
    const double level = std::isnan(number) ? 0 : std::min(std::max(number, lo), hi);
    const auto from_zero = static_cast<float>(kind > 0 ? level - zero : level);
    y[i] = kind > 1 ? from_zero * scale : from_zero;
  }
  return {};
}

// What the kernel's quotients are right for.
bool is_usual(double scale) { return scale >= 0x1p-100 && scale <= 0x1p100; }

Lowering lower(const OpCall& call, View preferred) {
  if (call.type(0).dtype != DType::kF32) return host_only("the tensor is not of a float type");
  const View view = usable_view(call.shape(0), preferred);
  LoweredCall lowered;
  lowered.op = "quantize";
  put_nhwc(*view_of(call.shape(0), view), lowered.dims);
  lowered.dims["kind"] = call.node.int_attr("kind", 0);
  lowered.scalars = {{"lo", call.node.float_attr("lo", 0)},
                     {"hi", call.node.float_attr("hi", 255)}};
  lowered.inputs = {{"x", 0, view}};
  lowered.view = view;
  const Tensor *scale = call.inputs[1].value, *zero = call.inputs[2].value;
  if (scale && zero) {
    lowered.scalars["scale"] = scale->to_f64()[0];
    lowered.scalars["zero"] = zero->to_f64()[0];
    if (!is_usual(lowered.scalars["scale"]))
      return host_only("the scale is too small or too large");
  } else {
    lowered.op = "quantize_by";
    lowered.inputs.push_back({"scale", 1, View::kChannelsLast});
    lowered.inputs.push_back({"zero", 2, View::kChannelsLast});
  }
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kLevels.data()},
    .domain = kStepsDomain,
    .inputs = "f f f",
    .attributes = "lo:f hi:f kind:i",
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_levels
