// Operators that have no kernel, as steps of operators that have one.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

constexpr int kDeepest = 4;  // steps of steps

// Whether all its floats, one at least, are f32. Sums of integers as floats have none.
bool is_of_f32(const OpCall& call) {
  size_t floats = 0, singles = 0;
  for (const OpInput& input : call.inputs) {
    if (!input.present || !is_float(input.type.dtype)) continue;
    ++floats;
    if (input.type.dtype == DType::kF32) ++singles;
  }
  return floats == singles && (floats > 0 || call.node.domain == kStepsDomain);
}

bool crosses(const Node& node) {
  return node.op == "Cast" || node.op == kAsFloats || node.op == kAsIntegers;
}

// Integers and truth values live on the host, and so does what makes floats of them or them of
// floats.
bool is_of_integers(const Graph& graph, const Node& node) {
  const auto is_whole = [&](ValueId id) {
    const auto& dtype = id == kNoValue ? std::nullopt : graph.values[static_cast<size_t>(id)].dtype;
    return id == kNoValue || (dtype && !is_float(*dtype));
  };
  const bool reads = std::ranges::all_of(node.inputs, is_whole),
             makes = std::ranges::all_of(node.outputs, is_whole);
  return crosses(node) ? reads || makes : reads && makes;
}

void rename(std::vector<Node>& nodes, ValueId from, ValueId to) {
  for (Node& node : nodes) {
    std::ranges::replace(node.inputs, from, to);
    std::ranges::replace(node.outputs, from, to);
  }
}

bool makes(const std::vector<Node>& steps, ValueId id) {
  return std::ranges::any_of(steps, [&](const Node& step) {
    return std::ranges::find(step.outputs, id) != step.outputs.end();
  });
}

// An output that is another one or an input.
Node same_as(const Node& node, size_t output, ValueId from) {
  Node same;
  same.name = fmt::format("{}/Identity.{}", node.name, output);
  same.op = "Identity";
  same.opset = Steps::kOpset;
  same.def = find_op("", same.op);
  same.inputs = {from};
  same.outputs = {node.outputs[output]};
  return same;
}

// Lets the steps make the outputs of `node`. False: one is a constant.
bool hand_over(const Node& node, std::vector<Term> outputs, std::vector<Node>& steps) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId to = node.outputs[i];
    if (to == kNoValue) continue;
    const ValueId from = i < outputs.size() ? outputs[i].id : kNoValue;
    if (from == kNoValue) return false;
    const bool handed = std::ranges::find(node.outputs, from) != node.outputs.end();
    if (handed || !makes(steps, from)) {
      steps.push_back(same_as(node, i, from));
      continue;
    }
    rename(steps, from, to);
    for (Term& term : outputs) term.id = term.id == from ? to : term.id;
  }
  return true;
}

// Puts the steps of `node` behind `nodes`. False: it has to stay whole.
bool expand(Graph& graph, const Node& node, std::vector<Node>& nodes, int depth) {
  if (!node.def || !node.def->expand || node.activation.act != Act::kNone || depth > kDeepest)
    return false;
  auto call = call_of(graph, node);
  if (!call || !is_of_f32(*call)) return false;
  // The graph's own move as it grows.
  std::vector<Tensor> constants(call->inputs.size());
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!call->inputs[i].value) continue;
    constants[i] = *call->inputs[i].value;
    call->inputs[i].value = &constants[i];
  }
  std::vector<Node> made;
  Steps steps(*call, graph, made);
  const std::vector<Term> outputs = node.def->expand(steps);
  if (!steps.ok() || outputs.empty() || !hand_over(node, outputs, made)) return false;
  for (Node& step : made) step.is_step = true;
  for (Node& step : made) {
    const auto step_call = call_of(graph, step);
    if (is_of_integers(graph, step) || (step_call && has_kernel(*step_call))) {
      nodes.push_back(std::move(step));
    } else if (!expand(graph, step, nodes, depth + 1)) {
      return false;
    }
  }
  return true;
}

bool may_expand(const Graph& graph, const Node& node) {
  if (!node.def || !node.def->expand) return false;
  const auto call = call_of(graph, node);
  return call && !has_kernel(*call);
}

// What several nodes are becomes one where that has a kernel.
void gather_steps(Graph& graph) {
  gather_squeezes(graph);
  gather_sums(graph);
  gather_pairs(graph);
  gather_branches(graph);
}

}  // namespace

Status expand_composites(Graph& graph) {
  CLVET_RETURN_IF_ERROR(carry_sums(graph));
  std::vector<Node> nodes;
  bool any = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node node = graph.nodes[n];
    std::vector<Node> steps;
    if (may_expand(graph, node) && expand(graph, node, steps, 0)) {
      any = true;
      std::ranges::move(steps, std::back_inserter(nodes));
    } else {
      nodes.push_back(node);
    }
  }
  if (!any) {
    remove_dead_code(graph);
    gather_steps(graph);
    find_level_weights(graph);
    return {};
  }
  graph.nodes = std::move(nodes);
  CLVET_RETURN_IF_ERROR(sort_topologically(graph));
  CLVET_RETURN_IF_ERROR(infer_and_fold(graph));
  carry_levels(graph);
  fuse_activations(graph);
  remove_dead_code(graph);
  CLVET_RETURN_IF_ERROR(sort_topologically(graph));
  gather_steps(graph);
  find_level_weights(graph);
  return {};
}

}  // namespace clvet
