// QLinearAdd, QLinearMul and QLinearConcat of com.microsoft: ONNX's operator on the numbers that
// the integers stand for.
#include <cstddef>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/quantized_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_qlinear_joins {
namespace {

// Each operand is three inputs: values, scale and zero point. The result's own two inputs come
// last, but in a QLinearConcat first.
struct Places {
  size_t operands, count, result;
};

Places places_of(const OpCall& call) {
  if (call.node.op == "QLinearConcat") return {2, (call.inputs.size() - 2) / 3, 0};
  return {0, 2, 6};
}

Term joined(Steps& s, const std::vector<Term>& x) {
  const Node& node = s.call().node;
  if (node.op != "QLinearConcat") return s.one(node.op == "QLinearAdd" ? "Add" : "Mul", x);
  return s.one("Concat", x, node.attributes);
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const bool concat = call.node.op == "QLinearConcat";
  if (concat ? call.inputs.size() < 5 || call.inputs.size() % 3 != 2 : call.inputs.size() > 8)
    return s.refuse(wrong_count(call));
  const Places at = places_of(call);
  for (size_t i = 0; i < (concat ? call.inputs.size() : 7); ++i) {
    const bool zero = concat ? (i > 1 ? i % 3 == 1 : i == 1) : i % 3 == 2;
    if (!call.has(i) && !zero) return s.refuse(missing_input(call, i));
  }
  if (concat && !call.node.attributes.contains("axis"))
    return s.refuse(missing_attribute(call, "axis"));
  const DType dtype = call.type(at.operands).dtype;
  if (!call.has(at.result + 1) && dtype != DType::kU8)
    return s.refuse(missing_input(call, at.result + 1));
  if (call.has(at.result + 1) && call.type(at.result + 1).dtype != dtype)
    return s.refuse(bad_type(call, at.result + 1));
  std::vector<Term> x;
  for (size_t k = 0; k < at.count; ++k) {
    const size_t i = at.operands + 3 * k;
    if (call.type(i).dtype != dtype) return s.refuse(bad_type(call, i));
    for (const size_t one : {i + 1, i + 2}) {
      if (call.has(one) && elements_of(call.shape(one)) != 1) return s.refuse(bad_shape(call, one));
    }
    x.push_back(dequantized(s, s.input(i), s.input(i + 1), s.input(i + 2)));
  }
  if (elements_of(call.shape(at.result)) != 1) return s.refuse(bad_shape(call, at.result));
  return {quantized(s, joined(s, x), s.input(at.result), s.input(at.result + 1))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"QLinearAdd", "QLinearMul", "QLinearConcat"},
    .domain = kMicrosoft,
    .inputs = "**",
    .attributes = "axis:i",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
    .expand = steps,
};

}  // namespace clvet::op_qlinear_joins
