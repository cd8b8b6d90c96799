// SkipLayerNormalization and SkipSimplifiedLayerNormalization of com.microsoft: the rows of a sum
// normalised; the sum is output 3. Outputs 1 and 2 are for training.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_skip_normalization {
namespace {

constexpr double kEpsilon = 1e-12;

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const std::vector<ValueId>& named = call.node.outputs;
  for (size_t i = 1; i < named.size() && i < 3; ++i) {
    if (named[i] != kNoValue) return s.refuse(unsupported_output(call, i));
  }
  const bool simple = call.node.op == "SkipSimplifiedLayerNormalization";
  if (simple && call.has(4)) return s.refuse(bad_shape(call, 4));
  const size_t bias = simple ? 3 : 4;
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) return s.refuse(bad_shape(call, 0));
  for (size_t i = 2; i < 5; ++i) {
    if (call.has(i) && call.shape(i) != Shape{shape.back()}) return s.refuse(misfit(call, 0, i));
  }
  Term sum = s.one("Add", {s.input(0), s.input(1)});
  if (sum.shape() != shape && s.ok()) return s.refuse(misfit(call, 0, 1));
  if (call.has(bias)) sum = s.one("Add", {sum, s.input(bias)});
  const Attributes how = {{"axis", int64_t{-1}},
                          {"epsilon", call.node.float_attr("epsilon", kEpsilon)}};
  const Term y = simple ? s.one("RMSNormalization", {sum, s.input(2)}, how)
                        : s.one("LayerNormalization", {sum, s.input(2), s.input(3)}, how);
  return {y, no_term(), no_term(), sum};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"},
    .domain = kMicrosoft,
    .inputs = "T T T T? T?",
    .types = "s",
    .attributes = "epsilon:f",
    .max_outputs = 4,
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
    .expand = steps,
};

}  // namespace clvet::op_skip_normalization
