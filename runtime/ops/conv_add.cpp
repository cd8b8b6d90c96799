// ConvAdd (runtime/ops/contract/steps_domain.h): a convolution by single pixels, and a sum behind
// it.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_conv_add {
namespace {

constexpr size_t kAddend = 3;

const OpDef& conv() { return *find_op("", "Conv"); }

// The node without the sum and its activation.
struct ConvPart {
  Node node;
  OpCall call;
  explicit ConvPart(const OpCall& whole) : node(whole.node), call{node, whole.inputs} {
    node.op = "Conv";
    node.domain = "";
    node.activation = {};
    call.inputs.resize(kAddend);
  }
};

Result<Types> infer(const OpCall& call) {
  const ConvPart part(call);
  CLVET_ASSIGN_OR_RETURN(Types types, conv().infer(part.call));
  const Shape &w = call.shape(1), &out = types[0].shape;
  if (elements_of(w) != w[0] * w[1] || call.shape(kAddend) != out) {
    return fail(ErrorCode::kInvalidArgument, "{} does not add {} to {}", call.node.op,
                to_string(call.shape(kAddend)), to_string(out));
  }
  return types;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const ConvPart part(call);
  CLVET_RETURN_IF_ERROR(conv().host(part.call, outputs));
  const float* r = call.tensor(kAddend).data<float>();
  float* y = outputs[0].data<float>();
  for (int64_t i = 0; i < outputs[0].elements(); ++i) y[i] += r[i];
  return {};
}

LoweredCall sum_call(const OpCall& call) {
  const Shape& shape = call.shape(kAddend);
  LoweredCall sum = binary_call(shape, shape, EltwiseCode::kAdd, View::kChannelsFirst);
  put_activation(call.node.activation, sum);
  sum.inputs = {{"x1", -1, View::kChannelsLast},
                {"x2", static_cast<int>(kAddend), View::kChannelsFirst}};
  return sum;
}

// Both at once, of a convolution whose pixels are the rows of a product.
LoweredCall whole_call(const OpCall& call, const LoweredCall& conv) {
  LoweredCall whole = conv;
  whole.op = "gemm_add";
  whole.dims = {{"M", conv.dims.at("N") * conv.dims.at("H") * conv.dims.at("W")},
                {"N", conv.dims.at("OC")},
                {"K", conv.dims.at("C")},
                {"W", conv.dims.at("W")}};
  put_activation(call.node.activation, whole);
  whole.inputs.push_back({"r", static_cast<int>(kAddend), View::kChannelsFirst});
  return whole;
}

Lowering lower(const OpCall& call, View preferred) {
  const ConvPart part(call);
  Lowering lowering = conv().lower(part.call, preferred);
  if (lowering.kind != LoweringKind::kKernel) return lowering;
  lowering.others = {{{whole_call(call, lowering.calls[0])}, 1}};
  lowering.calls[0].output = kTemporary;
  lowering.calls.push_back(sum_call(call));
  return lowering;
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  const ConvPart part(call);
  return conv().constant(part.call, which);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kConvAdd.data()},
    .domain = kStepsDomain,
    .inputs = "T T T? T",
    .wants_known = {1, 2},
    .attributes = "",
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_conv_add
