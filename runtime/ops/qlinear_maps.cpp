// QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax, QLinearAveragePool and QLinearGlobalAveragePool
// of com.microsoft: ONNX's operator on the numbers that the integers stand for.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/quantized_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_qlinear_maps {
namespace {

enum Input : size_t { kX, kXScale, kXZero, kYScale, kYZero };

// Up to this operator set a softmax is over all axes from its own on.
constexpr int kSoftmaxOfOneAxis = 13;

Term softmax(Steps& s, const Term& x) {
  const Node& node = s.call().node;
  const auto rank = static_cast<int64_t>(x.shape().size());
  const auto axis = normal_axis(node.int_attr("axis", -1), rank);
  if (!axis) {
    s.refuse(tl::unexpected<Error>(axis.error()));
    return no_term();
  }
  if (node.int_attr("opset", kSoftmaxOfOneAxis) >= kSoftmaxOfOneAxis)
    return s.one("Softmax", {x}, {{"axis", *axis}});
  Shape rows{1, 1};
  for (int64_t i = 0; i < rank; ++i) rows[i < *axis ? 0 : 1] *= x.shape()[static_cast<size_t>(i)];
  return s.reshaped(s.one("Softmax", {s.reshaped(x, rows)}), x.shape());
}

// Of [N,C,...], or of [N,...,C].
Term pooled(Steps& s, Term x, const char* op, Attributes attributes) {
  attributes.erase("channels_last");
  const auto rank = static_cast<int64_t>(x.shape().size());
  if (s.call().node.int_attr("channels_last", 0) == 0 || rank < 3)
    return s.one(op, {x}, attributes);
  std::vector<int64_t> there{0, rank - 1}, back{0};
  for (int64_t i = 1; i < rank - 1; ++i) there.push_back(i);
  for (int64_t i = 2; i < rank; ++i) back.push_back(i);
  back.push_back(1);
  x = s.one("Transpose", {x}, {{"perm", there}});
  return s.one("Transpose", {s.one(op, {x}, attributes)}, {{"perm", back}});
}

Term mapped(Steps& s, const Term& x) {
  const Node& node = s.call().node;
  if (node.op == "QLinearSigmoid") return s.one("Sigmoid", {x});
  if (node.op == "QLinearLeakyRelu")
    return s.one("LeakyRelu", {x}, {{"alpha", node.float_attr("alpha", 0.01)}});
  if (node.op == "QLinearSoftmax") return softmax(s, x);
  return pooled(s, x, node.op == "QLinearAveragePool" ? "AveragePool" : "GlobalAveragePool",
                node.attributes);
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  if (call.has(kYZero) && call.type(kYZero).dtype != call.type(kX).dtype)
    return s.refuse(bad_type(call, kYZero));
  if (!call.has(kYZero) && call.type(kX).dtype != DType::kU8)
    return s.refuse(missing_input(call, kYZero));
  for (const size_t i : {kXScale, kXZero, kYScale, kYZero}) {
    if (call.has(i) && elements_of(call.shape(i)) != 1) return s.refuse(bad_shape(call, i));
  }
  const Term x = dequantized(s, s.input(kX), s.input(kXScale), s.input(kXZero));
  if (!s.ok()) return {};
  return {quantized(s, mapped(s, x), s.input(kYScale), s.input(kYZero))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearAveragePool",
              "QLinearGlobalAveragePool"},
    .domain = kMicrosoft,
    .inputs = "T f *? f *?",
    .types = "iu",
    .attributes =
        "alpha:f auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID axis:i ceil_mode:i "
        "channels_last:i count_include_pad:i kernel_shape:I opset:i pads:I strides:I",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
    .expand = steps,
};

}  // namespace clvet::op_qlinear_maps
