// Affine maps by single constants into the convolution after them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// What lies beyond the border is zero after the map, so a shift needs a convolution without one.
bool stays_inside(const Node& conv) {
  const std::string mode = conv.string_attr("auto_pad", "NOTSET");
  const std::vector<int64_t>* pads = conv.ints_attr("pads");
  if (mode == "VALID") return true;
  return mode == "NOTSET" &&
         (!pads || std::all_of(pads->begin(), pads->end(), [](int64_t pad) { return pad == 0; }));
}

bool takes_map(const Graph& graph, const Node& node) {
  if (node.op != "Conv" || !node.domain.empty() || !node.def) return false;
  const Tensor* w = graph.constant(node.inputs[1]);
  return w && w->dtype() == DType::kF32 && w->rank() >= 3 && w->elements() > 0 &&
         bias_fits(graph, node, w->dim(0));
}

// conv(scale * x + shift) as a convolution of x.
void apply(Graph& graph, Node& conv, double scale, double shift) {
  const Tensor& w = *graph.constant(conv.inputs[1]);
  const Shape shape = w.shape();
  const auto channels = static_cast<size_t>(shape[0]);
  Values values = w.to_f64(), bias(channels, 0.0);
  conv.inputs.resize(3, kNoValue);
  if (const Tensor* old = graph.constant(conv.inputs[2])) bias = old->to_f64();
  for (size_t i = 0; i < values.size(); ++i) {
    bias[i / (values.size() / channels)] += shift * values[i];
    values[i] *= scale;
  }
  const std::string stem = conv.name + ".scaled";
  const ValueId scaled_w =
      graph.add_constant(graph.unique_name(stem + "_w"), narrowed(shape, values));
  const ValueId scaled_b =
      graph.add_constant(graph.unique_name(stem + "_b"), narrowed({shape[0]}, bias));
  conv.inputs[1] = scaled_w;
  conv.inputs[2] = scaled_b;
}

}  // namespace

void fold_input_affine(Graph& graph) {
  const Links links(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!takes_map(graph, graph.nodes[n])) continue;
    double scale = 1, shift = 0;
    ValueId from = graph.nodes[n].inputs[0];
    while (links.producer[from] >= 0 && only_consumer(graph, links, from) >= 0) {
      const Node& before = graph.nodes[links.producer[from]];
      const auto map = before.def && before.domain.empty() && before.activation.act == Act::kNone
                           ? scalar_affine_of(graph, before)
                           : std::nullopt;
      if (!map || (scale * map->hi + shift != 0 && !stays_inside(graph.nodes[n]))) break;
      shift += scale * map->hi;
      scale *= map->lo;
      from = before.inputs[1 - constant_side(graph, before)];
    }
    if (from == graph.nodes[n].inputs[0]) continue;
    apply(graph, graph.nodes[n], scale, shift);
    graph.nodes[n].inputs[0] = from;
  }
  remove_dead_code(graph);
}

}  // namespace clvet
