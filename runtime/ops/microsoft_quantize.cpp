// QuantizeLinear and DequantizeLinear of com.microsoft, which came before ONNX's.
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_microsoft_quantize {
namespace {

std::vector<Term> steps(Steps& s) {
  const Node& node = s.call().node;
  return {s.one(node.op.c_str(), {s.input(0), s.input(1), s.input(2)}, node.attributes)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"QuantizeLinear", "DequantizeLinear"},
    .domain = kMicrosoft,
    .inputs = "* f *?",
    .wants_known = {2},
    .attributes = "axis:i",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
    .expand = steps,
};

}  // namespace clvet::op_microsoft_quantize
