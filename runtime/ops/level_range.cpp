// LevelExtremes, LevelScale and LevelZero: what DynamicQuantizeLinear takes from the extremes of a
// tensor (runtime/ops/contract/steps_domain.h).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_level_range {
namespace {

const Shape kPair{2};

Result<Types> infer(const OpCall& call) {
  if (call.type(0).dtype != DType::kF32) return bad_type(call, 0);
  if (call.node.op == kLevelExtremes) return Types{{DType::kF32, kPair}};
  if (call.shape(0) != kPair) return bad_shape(call, 0);
  return Types{{DType::kF32, {}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const auto x = call.tensor(0).values<float>();
  float* y = outputs[0].data<float>();
  if (call.node.op == kLevelExtremes) {
    for (const float v : x) {
      y[0] = larger(y[0], v);
      y[1] = smaller(y[1], v);
    }
    return {};
  }
  const ByteLevels levels = byte_levels(x[1], x[0]);
  y[0] = call.node.op == kLevelScale ? levels.scale : levels.zero;
  return {};
}

// The root of the number of texels: two reductions of about that length.
int64_t parts_of(const Nhwc& x) {
  constexpr double kMost = 1024;
  const auto texels = static_cast<double>(x.rows() * ((x.c + 3) / 4));
  return static_cast<int64_t>(std::min(std::ceil(std::sqrt(texels)), kMost));
}

LoweredCall extremes_call(const Nhwc& x, const View& view, int input, int64_t parts) {
  LoweredCall lowered;
  lowered.op = "quantize_extremes";
  put_nhwc(x, lowered.dims);
  lowered.dims["P"] = parts;
  lowered.inputs = {{"x", input, view}};
  lowered.view = View::kChannelsLast;
  return lowered;
}

// A few texels at once; of more the extremes of parts first.
Lowering lower_extremes(const OpCall& call, View preferred) {
  constexpr int64_t kFew = 32;
  const View view = usable_view(call.shape(0), preferred);
  const Nhwc x = *view_of(call.shape(0), view);
  const int64_t parts = parts_of(x);
  if (parts * parts <= kFew) return kernel_call(extremes_call(x, view, 0, 1));
  LoweredCall first = extremes_call(x, view, 0, parts);
  first.output = kTemporary;
  first.temporary = {parts, 2};
  LoweredCall last = extremes_call({1, 1, parts, 2}, View::kChannelsLast, -1, 1);
  return kernel_calls({std::move(first), std::move(last)});
}

Lowering lower(const OpCall& call, View preferred) {
  if (call.type(0).dtype != DType::kF32) return host_only("the tensor is not of a float type");
  if (call.node.op == kLevelExtremes) return lower_extremes(call, preferred);
  LoweredCall lowered;
  lowered.op = "quantize_range";
  lowered.dims = {{"M", 1}, {"code", call.node.op == kLevelScale ? 0 : 1}};
  lowered.inputs = {{"x", 0, View::kChannelsLast}};
  lowered.view = View::kChannelsLast;
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kLevelExtremes.data(), kLevelScale.data(), kLevelZero.data()},
    .domain = kStepsDomain,
    .inputs = "f",
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_level_range
