// QLinearConv and QLinearMatMul: the exact sums of ConvInteger and MatMulInteger, scaled to the
// steps of the output in float32 as onnxruntime does.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/quantized_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_qlinear_products {
namespace {

// Inputs in ONNX's order: x, its scale and zero point, w and its, the output's, and a bias.
enum Input : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

bool is_conv(const OpCall& call) { return call.node.op == "QLinearConv"; }

Node integer_node(const OpCall& call) {
  Node node = call.node;
  node.op = is_conv(call) ? "ConvInteger" : "MatMulInteger";
  node.def = find_op("", node.op);
  node.activation = {};
  return node;
}

// What the second operand may have one scale for each of.
int64_t columns_of(const OpCall& call) {
  const Shape& w = call.shape(kW);
  return is_conv(call) ? w[0] : w.size() < 2 ? 1 : w.back();
}

Status check_parameters(const OpCall& call) {
  const Shape& x = call.shape(kX);
  const int64_t rows = is_conv(call) || x.size() < 2 ? 1 : x[x.size() - 2];
  const auto fits = [&](size_t i, int64_t along) {
    const int64_t count = elements_of(call.shape(i));
    return count == 1 || count == along;
  };
  for (const size_t i : {kXScale, kXZero}) {
    if (!fits(i, rows)) return misfit(call, kX, i);
  }
  for (const size_t i : {kWScale, kWZero}) {
    if (!fits(i, columns_of(call))) return misfit(call, kW, i);
  }
  for (const size_t i : {kYScale, kYZero}) {
    if (!fits(i, 1)) return bad_shape(call, i);
  }
  if (call.type(kXZero).dtype != call.type(kX).dtype) return bad_type(call, kXZero);
  if (call.type(kWZero).dtype != call.type(kW).dtype) return bad_type(call, kWZero);
  if (call.type(kYZero).dtype != DType::kU8 && call.type(kYZero).dtype != DType::kI8)
    return bad_type(call, kYZero);
  if (!call.has(kBias)) return {};
  if (call.type(kBias).dtype != DType::kI32) return bad_type(call, kBias);
  if (call.shape(kBias) != Shape{columns_of(call)}) return misfit(call, kW, kBias);
  return {};
}

Result<Types> infer(const OpCall& call) {
  const Node node = integer_node(call);
  const OpCall inner{node, {call.inputs[kX], call.inputs[kW]}};
  CLVET_ASSIGN_OR_RETURN(Types types, infer_node(inner));
  CLVET_RETURN_IF_ERROR(check_parameters(call));
  types[0].dtype = call.type(kYZero).dtype;
  return types;
}

Result<std::vector<float>> floats_of(const Tensor& tensor) {
  CLVET_ASSIGN_OR_RETURN(const Tensor wide, tensor.cast(DType::kF32));
  return std::vector<float>(wide.data<float>(), wide.data<float>() + wide.elements());
}

// Where the scale of an output's element lies: index / inner % count.
struct Along {
  int64_t inner = 1, count = 1;
  size_t at(int64_t index) const { return static_cast<size_t>(index / inner % count); }
};

struct Scales {
  std::vector<float> x, w;
  float y = 1;
  Along row, column;  // of x's scales, and of w's and the bias
};

Result<Scales> scales_of(const OpCall& call, const Shape& out) {
  Scales s;
  CLVET_ASSIGN_OR_RETURN(s.x, floats_of(call.tensor(kXScale)));
  CLVET_ASSIGN_OR_RETURN(s.w, floats_of(call.tensor(kWScale)));
  CLVET_ASSIGN_OR_RETURN(const std::vector<float> y, floats_of(call.tensor(kYScale)));
  s.y = y[0];
  s.column.count = columns_of(call);
  if (is_conv(call)) {
    s.column.inner = elements_of(std::span(out).subspan(2));
  } else {
    s.row.inner = s.column.count;
    s.row.count = static_cast<int64_t>(s.x.size());
  }
  return s;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const std::array<const Tensor*, 4> operands = {&call.tensor(kX), &call.tensor(kW),
                                                 &call.tensor(kXZero), &call.tensor(kWZero)};
  CLVET_ASSIGN_OR_RETURN(const std::vector<Tensor> sums, run_node(integer_node(call), operands));
  CLVET_ASSIGN_OR_RETURN(const Scales s, scales_of(call, outputs[0].shape()));
  const auto* sum = sums[0].data<int32_t>();
  const int32_t* bias = call.has(kBias) ? call.tensor(kBias).data<int32_t>() : nullptr;
  const int64_t zero = call.tensor(kYZero).to_i64()[0];
  visit_quantized(outputs[0].dtype(), [&]<class T>() {
    T* y = outputs[0].data<T>();
    for (int64_t i = 0; i < outputs[0].elements(); ++i) {
      const size_t column = s.column.at(i);
      const float scale = s.x[s.row.at(i)] * s.w[s.w.size() == 1 ? 0 : column] / s.y;
      const int64_t total = int64_t{sum[i]} + (bias ? bias[column] : 0);
      y[i] = quantized<T>(static_cast<float>(total) * scale, zero);
    }
  });
  return {};
}

// A parameter of the second operand: one value, or one along its axis.
Term along(Steps& s, const Term& parameter) {
  if (!parameter.present || elements_of(parameter.shape()) == 1) return s.reshaped(parameter, {});
  Shape shape(s.call().shape(kW).size(), 1);
  shape[is_conv(s.call()) ? 0 : shape.size() - 1] = elements_of(parameter.shape());
  return s.reshaped(parameter, shape);
}

Term weights(Steps& s) {
  const Term level = s.one(kAsFloats.data(), {s.input(kW)});
  const Term zero = along(s, s.one(kAsFloats.data(), {s.input(kWZero)}));
  return s.one("Mul", {s.one("Sub", {level, zero}), along(s, s.input(kWScale))});
}

// The product of the numbers that the integers stand for.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  if (elements_of(call.shape(kXScale)) != 1 || elements_of(call.shape(kXZero)) != 1) return {};
  if (call.shape(kX).size() < 2 || call.shape(kW).size() < 2) return {};
  std::vector<Term> operands{dequantized(s, s.input(kX), s.input(kXScale), s.input(kXZero)),
                             weights(s)};
  if (call.has(kBias)) {
    const Term each = s.reshaped(
        s.input(kWScale), elements_of(call.shape(kWScale)) == 1 ? Shape{} : call.shape(kBias));
    const Term scale = s.one("Mul", {each, s.reshaped(s.input(kXScale), {})});
    operands.push_back(s.one("Mul", {s.one(kAsFloats.data(), {s.input(kBias)}), scale}));
  }
  const Term y = s.one(is_conv(call) ? "Conv" : "MatMul", operands, call.node.attributes);
  return {quantized(s, y, s.input(kYScale), s.input(kYZero))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"QLinearConv", "QLinearMatMul"},
    .since = 10,
    .inputs = "* f * * f * f * *?",
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations:I group:i kernel_shape:I pads:I "
        "strides:I",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_qlinear_products
