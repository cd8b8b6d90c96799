#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>

#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

std::optional<Activation> clip_of(const Graph& graph, const Node& node) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Activation activation{Act::kClip, node.float_attr("min", -kLargest),
                        node.float_attr("max", kLargest)};
  bool bare = node.attributes.empty();
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    bare = false;
    const Tensor* bound = graph.constant(node.inputs[i]);
    if (!bound || bound->elements() != 1 || bound->dtype() != DType::kF32) return std::nullopt;
    (i == 1 ? activation.lo : activation.hi) = bound->to_f64()[0];
  }
  // Without any bound the type may be an integer's.
  if (bare) return std::nullopt;
  return activation;
}

bool takes_activation(const Node& node) {
  static constexpr const char* kOps[] = {"Conv",
                                         "ConvTranspose",
                                         "MatMul",
                                         "Gemm",
                                         "Add",
                                         "Sub",
                                         "Mul",
                                         "Div",
                                         "BatchNormalization",
                                         "ReduceSum",
                                         "ReduceL1",
                                         "ReduceL2",
                                         "ReduceSumSquare"};
  return node.def && node.domain.empty() && node.activation.act == Act::kNone &&
         std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* op) { return node.op == op; });
}

}  // namespace

std::optional<Activation> activation_of(const Graph& graph, const Node& node) {
  const std::string& op = node.op;
  if (!node.def || !node.domain.empty() || node.activation.act != Act::kNone) return std::nullopt;
  if (const ActRow* row = act_of_onnx(op)) {
    if (!row->fused) return std::nullopt;
    return Activation{row->act, node.float_attr("alpha", row->alpha),
                      node.float_attr("beta", row->beta)};
  }
  if (op == "Clip") return clip_of(graph, node);
  if (op == "Swish" && node.float_attr("alpha", 1) == 1) return Activation{Act::kSilu};
  if (op == "Gelu") {
    const bool tanh = node.string_attr("approximate", "none") == "tanh";
    return Activation{tanh ? Act::kGeluTanh : Act::kGeluErf};
  }
  return std::nullopt;
}

void fuse_activations(Graph& graph) {
  const Links links(graph);
  for (Node& node : graph.nodes) {
    // A node that an earlier one took over has no outputs any more.
    if (node.outputs.empty() || !takes_activation(node)) continue;
    const int next = only_consumer(graph, links, node.outputs[0]);
    if (next < 0) continue;
    Node& after = graph.nodes[next];
    auto activation =
        after.inputs[0] == node.outputs[0] ? activation_of(graph, after) : std::nullopt;
    if (!activation && after.activation.act == Act::kNone)
      activation = scalar_affine_of(graph, after);
    if (!activation) continue;
    node.activation = *activation;
    node.outputs[0] = after.outputs[0];
    after.inputs.clear();
    after.outputs.clear();
  }
  remove_dead_code(graph);
}

}  // namespace clvet
