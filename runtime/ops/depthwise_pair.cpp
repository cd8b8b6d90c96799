// DepthwisePair (runtime/ops/contract/steps_domain.h): a depthwise convolution, a convolution by
// single pixels, and perhaps a sum behind it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_depthwise_pair {
namespace {

// Inputs of the node.
constexpr size_t kPixelFilters = 3, kPixelBias = 4, kAddend = 5;
// Parts of constants: those of the first convolution, and of the second one.
constexpr int64_t kOfDepthwise = 0, kOfPixels = 1;

Activation middle_of(const Node& node) {
  return {static_cast<Act>(node.int_attr("middle_act", 0)), node.float_attr("middle_act_lo", 0),
          node.float_attr("middle_act_hi", 0)};
}

// The first convolution, with the activation behind it.
struct DepthwisePart {
  Node node;
  OpCall call;
  explicit DepthwisePart(const OpCall& whole)
      : node(whole.node), call{node, {whole.inputs.begin(), whole.inputs.begin() + kPixelFilters}} {
    node.op = "Conv";
    node.domain = "";
    node.activation = middle_of(whole.node);
    for (const char* of_middle : {"middle_act", "middle_act_lo", "middle_act_hi"})
      node.attributes.erase(of_middle);
  }
  static const OpDef& def() { return *find_op("", "Conv"); }
};

// What follows on `middle`: the second convolution, or ConvAdd.
struct PixelPart {
  bool adds;
  Node node;
  OpCall call;
  PixelPart(const OpCall& whole, const OpInput& middle)
      : adds(whole.has(kAddend)), node(whole.node), call{node, {middle}} {
    node.op = adds ? kConvAdd : "Conv";
    node.domain = adds ? kStepsDomain : "";
    node.attributes.clear();
    for (size_t i = kPixelFilters; i <= (adds ? kAddend : kPixelBias); ++i)
      call.inputs.push_back(i < whole.inputs.size() ? whole.inputs[i] : OpInput());
  }
  const OpDef& def() const { return *find_op(node.domain, node.op); }
};

Result<OpInput> middle_type(const DepthwisePart& part) {
  CLVET_ASSIGN_OR_RETURN(Types types, DepthwisePart::def().infer(part.call));
  return OpInput{.type = std::move(types[0]), .value = nullptr, .present = true};
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const OpInput middle, middle_type(DepthwisePart(call)));
  const PixelPart pixels(call, middle);
  return pixels.def().infer(pixels.call);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const DepthwisePart depthwise(call);
  CLVET_ASSIGN_OR_RETURN(OpInput middle, middle_type(depthwise));
  std::vector<Tensor> made(1);
  CLVET_ASSIGN_OR_RETURN(made[0], Tensor::create(middle.type.dtype, middle.type.shape));
  CLVET_RETURN_IF_ERROR(DepthwisePart::def().host(depthwise.call, made));
  middle.value = made.data();
  PixelPart pixels(call, middle);
  pixels.node.activation = {};
  return pixels.def().host(pixels.call, outputs);
}

// The calls of the second part, behind the first one's only call.
std::vector<LoweredCall> behind(std::vector<LoweredCall> calls) {
  constexpr int kFirstOfNode = static_cast<int>(kPixelFilters) - 1;
  for (LoweredCall& call : calls) {
    for (LoweredInput& input : call.inputs) {
      if (input.input < 0)
        --input.input;
      else if (input.input == 0)
        input = {input.role, -1, View::kChannelsLast};
      else
        input.input += kFirstOfNode;
    }
    for (LoweredConstant& one : call.constants) one.part = kOfPixels;
  }
  return calls;
}

// All of it at once.
LoweredCall whole_call(const OpCall& call, const LoweredCall& depthwise) {
  LoweredCall whole = depthwise;
  whole.op = "depthwise_gemm";
  whole.dims["OC"] = call.shape(kPixelFilters)[0];
  whole.dims["add"] = call.has(kAddend) ? 1 : 0;
  put_activation(middle_of(call.node), whole, "middle_");
  put_activation(call.node.activation, whole);
  whole.inputs.push_back(
      {"r", call.has(kAddend) ? static_cast<int>(kAddend) : 0, View::kChannelsFirst});
  whole.constants = {
      {"taps", kOfDepthwise}, {"middle_bias", kOfDepthwise}, {"w", kOfPixels}, {"bias", kOfPixels}};
  return whole;
}

Lowering lower(const OpCall& call, View preferred) {
  const DepthwisePart depthwise(call);
  const auto middle = middle_type(depthwise);
  if (!middle) return host_only(middle.error().message);
  const PixelPart pixels(call, *middle);
  Lowering first = DepthwisePart::def().lower(depthwise.call, preferred);
  if (first.kind != LoweringKind::kKernel) return first;
  Lowering second = pixels.def().lower(pixels.call, View::kChannelsFirst);
  if (second.kind != LoweringKind::kKernel) return second;
  const LoweredCall whole = whole_call(call, first.calls[0]);
  LoweredCall& head = first.calls[0];
  head.output = kTemporary;
  const auto after_head = [&](std::vector<LoweredCall> calls) {
    calls = behind(std::move(calls));
    calls.insert(calls.begin(), head);
    return calls;
  };
  Lowering lowering = kernel_calls(after_head(std::move(second.calls)));
  for (OtherCalls& other : second.others)
    lowering.others.push_back({after_head(std::move(other.calls)), other.most});
  lowering.others.push_back({{whole}, 1});
  return lowering;
}

// Rows of C values, a multiple of 16 apart.
Values rows_of(const Values& taps, int64_t channels) {
  constexpr int64_t kLanes = 16;
  const int64_t pitch = round_up(channels, kLanes), rows = std::ssize(taps) / channels;
  Values values(static_cast<size_t>(rows * pitch));
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(taps.begin() + row * channels, channels, values.begin() + row * pitch);
  return values;
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  if (which.part == kOfPixels) {
    const PixelPart pixels(call, call.inputs[0]);
    return pixels.def().constant(pixels.call, {which.role});
  }
  const DepthwisePart depthwise(call);
  const bool bias = which.role.ends_with("bias");
  const Values values = DepthwisePart::def().constant(depthwise.call, {bias ? "bias" : "w"});
  return which.role == "taps" ? rows_of(values, call.shape(1)[0]) : values;
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kDepthwisePair.data()},
    .domain = kStepsDomain,
    .inputs = "T T T? T T? T?",
    .wants_known = {1, 2, 3, 4},
    .attributes =
        "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I middle_act:i "
        "middle_act_lo:f middle_act_hi:f",
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_depthwise_pair
