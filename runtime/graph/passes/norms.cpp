// Layer normalization, as exporters spell it out.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// (x - mean) / sqrt(variance + epsilon) over one axis, times `scale` and plus `shift`.
struct Norm {
  ValueId x = kNoValue;
  int64_t axis = 0;
  double epsilon = 0;
  ValueId scale = kNoValue, shift = kNoValue;
};

class Matcher {
 public:
  Matcher(const Graph& graph, const Links& links) : graph_(graph), links_(links) {}

  // Of the value that Div makes: deviation / sqrt(mean(deviation^2) + epsilon).
  std::optional<Norm> of_deviations(const Node& div) const {
    const Node* root = made_by(div, 1, "Sqrt");
    const Node* deviation = made_by(div, 0, "Sub");
    if (!root || !deviation) return std::nullopt;
    const auto sum = plus_scalar(root->inputs[0]);
    const auto norm = deviation_of(*deviation);
    if (!sum || !norm) return std::nullopt;
    const auto squares = mean_of(sum->first);
    if (!squares || squares->axis != norm->axis) return std::nullopt;
    const ValueId squared = square_root_of(squares->x);
    const Node* again = maker(squared, "Sub");
    const auto same = again ? deviation_of(*again) : std::nullopt;
    if (!same || same->x != norm->x || same->axis != norm->axis) return std::nullopt;
    return Norm{norm->x, norm->axis, sum->second};
  }

  // Of the value that Add makes: (x - mean) * (scale / sqrt(max(0, mean(x^2) - mean^2) + epsilon))
  // + shift.
  std::optional<Norm> of_moments(const Node& add) const {
    for (const int side : {0, 1}) {
      const Node* product = made_by(add, side, "Mul");
      if (!product || !graph_.constant(add.inputs[1 - side])) continue;
      for (const int at : {0, 1}) {
        const Node* deviation = made_by(*product, at, "Sub");
        const Node* factor = made_by(*product, 1 - at, "Mul");
        if (!deviation || !factor) continue;
        auto norm = deviation_of(*deviation);
        if (!norm || !has_factor(*factor, *norm)) continue;
        norm->shift = add.inputs[1 - side];
        return norm;
      }
    }
    return std::nullopt;
  }

 private:
  const Node* maker(ValueId value, std::string_view op) const {
    return clvet::maker(graph_, links_, value, op);
  }
  const Node* made_by(const Node& node, size_t input, std::string_view op) const {
    return input < node.inputs.size() ? maker(node.inputs[input], op) : nullptr;
  }

  const Shape* shape_of(ValueId value) const {
    if (value == kNoValue) return nullptr;
    const auto& shape = graph_.values[value].shape;
    if (!shape) return nullptr;
    for (const int64_t extent : *shape) {
      if (extent < 0) return nullptr;
    }
    return &*shape;
  }

  // What has the same elements in the same order.
  ValueId behind_views(ValueId value) const {
    for (const std::string_view op : {"Expand", "Reshape", "Unsqueeze", "Squeeze", "Expand"}) {
      const Node* view = maker(value, op);
      const Shape *from = view ? shape_of(view->inputs[0]) : nullptr, *to = shape_of(value);
      if (from && to && elements_of(*from) == elements_of(*to)) value = view->inputs[0];
    }
    return value;
  }

  // The value x whose square it is.
  ValueId square_root_of(ValueId value) const {
    if (const Node* mul = maker(value, "Mul"); mul && mul->inputs[0] == mul->inputs[1]) {
      return mul->inputs[0];
    }
    const Node* pow = maker(value, "Pow");
    return pow && scalar_of(graph_, pow->inputs[1]) == 2.0 ? pow->inputs[0] : kNoValue;
  }

  // A value and the single constant that is added to it.
  std::optional<std::pair<ValueId, double>> plus_scalar(ValueId value) const {
    const Node* add = maker(value, "Add");
    const int side = add ? constant_side(graph_, *add) : -1;
    if (side < 0 || adds_axis(graph_, *add, side)) return std::nullopt;
    const auto scalar = scalar_of(graph_, add->inputs[side]);
    if (!scalar) return std::nullopt;
    return std::pair(add->inputs[1 - side], *scalar);
  }

  // The one axis of a reduction, where all extents are known.
  std::optional<int64_t> axis_of(const Node& reduce) const {
    const Shape* shape = shape_of(reduce.inputs[0]);
    const auto* axes = reduce.ints_attr("axes");
    std::vector<int64_t> given;
    if (axes) given = *axes;
    if (!axes && reduce.inputs.size() > 1 && reduce.inputs[1] != kNoValue) {
      const Tensor* constant = graph_.constant(reduce.inputs[1]);
      if (constant) given = constant->to_i64();
    }
    if (!shape || given.size() != 1) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape->size());
    const int64_t axis = given[0] < 0 ? given[0] + rank : given[0];
    return axis >= 0 && axis < rank ? std::optional(axis) : std::nullopt;
  }

  // x and the axis over which `value` is its mean, whatever shape that has.
  std::optional<Norm> mean_of(ValueId value) const {
    value = behind_views(value);
    if (const Node* mean = maker(value, "ReduceMean")) {
      const auto axis = axis_of(*mean);
      return axis ? std::optional(Norm{mean->inputs[0], *axis}) : std::nullopt;
    }
    for (const char* op : {"Mul", "Div"}) {
      const Node* scaled = maker(value, op);
      const int side = scaled ? constant_side(graph_, *scaled) : -1;
      if (side < 0 || (scaled->op == "Div" && side == 0)) continue;
      const Node* sum = maker(scaled->inputs[1 - side], "ReduceSum");
      const auto axis = sum ? axis_of(*sum) : std::nullopt;
      const auto factor = scalar_of(graph_, scaled->inputs[side]);
      if (!axis || !factor) continue;
      const auto length =
          static_cast<double>((*shape_of(sum->inputs[0]))[static_cast<size_t>(*axis)]);
      const double product = scaled->op == "Mul" ? *factor * length : *factor / length;
      if (std::fabs(product - 1) < 1e-6) return Norm{sum->inputs[0], *axis};
    }
    return std::nullopt;
  }

  // Whether `value` has one element for each row over `norm`'s axis, broadcast along it.
  bool is_broadcast(ValueId value, const Norm& norm) const {
    Shape wanted = *shape_of(norm.x);
    wanted[static_cast<size_t>(norm.axis)] = 1;
    const Shape* shape = shape_of(value);
    return shape && *shape == wanted;
  }

  // x - mean(x).
  std::optional<Norm> deviation_of(const Node& sub) const {
    const auto mean = mean_of(sub.inputs[1]);
    if (!mean || mean->x != sub.inputs[0] || !is_broadcast(sub.inputs[1], *mean)) {
      return std::nullopt;
    }
    return mean;
  }

  // scale / sqrt(max(0, mean(x^2) - mean(x)^2) + epsilon): sets scale and epsilon.
  bool has_factor(const Node& factor, Norm& norm) const {
    const int side = constant_side(graph_, factor);
    const Node* reciprocal = side < 0 ? nullptr : made_by(factor, 1 - side, "Reciprocal");
    const Node* root = reciprocal ? made_by(*reciprocal, 0, "Sqrt") : nullptr;
    const auto sum = root ? plus_scalar(root->inputs[0]) : std::nullopt;
    if (!sum || !is_broadcast(sum->first, norm)) return false;
    ValueId variance = behind_views(sum->first);
    if (const Node* top = maker(variance, "Max"); top && top->inputs.size() == 2) {
      const int zero = constant_side(graph_, *top);
      if (zero < 0 || scalar_of(graph_, top->inputs[zero]) != 0.0) return false;
      variance = top->inputs[1 - zero];
    }
    const Node* difference = maker(variance, "Sub");
    if (!difference) return false;
    const auto squares = mean_of(difference->inputs[0]);
    const auto mean = mean_of(square_root_of(difference->inputs[1]));
    if (!squares || !mean || square_root_of(squares->x) != norm.x || mean->x != norm.x)
      return false;
    if (squares->axis != norm.axis || mean->axis != norm.axis) return false;
    norm.scale = factor.inputs[side];
    norm.epsilon = sum->second;
    return true;
  }

  const Graph& graph_;
  const Links& links_;
};

// The values of a float constant that has one for each index of `axis`, and extent 1 elsewhere.
std::optional<Tensor> along(const Graph& graph, ValueId value, const Shape& shape, int64_t axis) {
  const Tensor* tensor = graph.constant(value);
  const int64_t length = shape[static_cast<size_t>(axis)];
  if (!tensor || tensor->dtype() != DType::kF32 || tensor->elements() != length) {
    return std::nullopt;
  }
  const int64_t at = axis - static_cast<int64_t>(shape.size()) + tensor->rank();
  if (at < 0 || tensor->rank() > static_cast<int64_t>(shape.size()) || tensor->dim(at) != length) {
    return std::nullopt;
  }
  return tensor->reshaped({length});
}

// The Mul or Add by a constant along the axis that alone reads `value`: its node and the constant.
std::optional<std::pair<int, Tensor>> next_along(const Graph& graph, const Links& links,
                                                 ValueId value, const char* op, const Shape& shape,
                                                 int64_t axis) {
  const int next = only_consumer(graph, links, value);
  if (next < 0 || graph.nodes[next].op != op) return std::nullopt;
  const int side = constant_side(graph, graph.nodes[next]);
  if (side < 0) return std::nullopt;
  auto values = along(graph, graph.nodes[next].inputs[side], shape, axis);
  if (!values) return std::nullopt;
  return std::pair(next, std::move(*values));
}

// The axes of a transpose that swaps `axis` and the last one.
std::vector<int64_t> swapped_axes(size_t rank, int64_t axis) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return order;
}

// Makes node `last` the normalization of `norm.x`, whose parameters are constants of one axis.
void rewrite(Graph& graph, int last, const Norm& norm, const Tensor& scale, const Tensor* shift) {
  const std::string name = graph.nodes[last].name;
  std::vector<ValueId> inputs = {norm.x,
                                 graph.add_constant(graph.unique_name(name + "/scale"), scale)};
  if (shift) inputs.push_back(graph.add_constant(graph.unique_name(name + "/shift"), *shift));
  const Attributes attributes = {{"axis", int64_t{-1}}, {"epsilon", norm.epsilon}};
  Shape shape = *graph.values[norm.x].shape;
  if (norm.axis + 1 == static_cast<int64_t>(shape.size())) {
    become(graph.nodes[last], "LayerNormalization", std::move(inputs), attributes);
    return;
  }
  const auto order = swapped_axes(shape.size(), norm.axis);
  std::swap(shape[static_cast<size_t>(norm.axis)], shape.back());
  inputs[0] = insert_node(graph, last, "Transpose", {norm.x}, {{"perm", order}}, shape);
  const ValueId made =
      insert_node(graph, last + 1, "LayerNormalization", std::move(inputs), attributes, shape);
  become(graph.nodes[last + 2], "Transpose", {made}, {{"perm", order}});
}

bool by_deviations(Graph& graph, const Links& links, int n) {
  const auto norm = Matcher(graph, links).of_deviations(graph.nodes[n]);
  if (!norm) return false;
  const Shape shape = *graph.values[norm->x].shape;
  const auto scale = next_along(graph, links, graph.nodes[n].outputs[0], "Mul", shape, norm->axis);
  if (!scale) return false;
  const auto shift =
      next_along(graph, links, graph.nodes[scale->first].outputs[0], "Add", shape, norm->axis);
  rewrite(graph, shift ? shift->first : scale->first, *norm, scale->second,
          shift ? &shift->second : nullptr);
  return true;
}

bool by_moments(Graph& graph, const Links& links, int n) {
  const auto norm = Matcher(graph, links).of_moments(graph.nodes[n]);
  if (!norm) return false;
  const Shape shape = *graph.values[norm->x].shape;
  const auto scale = along(graph, norm->scale, shape, norm->axis);
  const auto shift = along(graph, norm->shift, shape, norm->axis);
  if (!scale || !shift) return false;
  rewrite(graph, n, *norm, *scale, &*shift);
  return true;
}

}  // namespace

void recognise_norms(Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.domain.empty() || node.activation.act != Act::kNone || node.inputs.size() != 2)
      continue;
    if (node.op == "Div") by_deviations(graph, Links(graph), static_cast<int>(n));
    if (node.op == "Add") by_moments(graph, Links(graph), static_cast<int>(n));
  }
  remove_dead_code(graph);
}

}  // namespace clvet
