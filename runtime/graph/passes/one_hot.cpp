// A product of rows that are 1 at one place and 0 elsewhere is a row of the other factor.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// 0, 1, ... n - 1 along the last axis.
bool counts(const Tensor& tensor, int64_t n) {
  if (tensor.elements() != n || tensor.rank() == 0 || tensor.dim(tensor.rank() - 1) != n)
    return false;
  const std::vector<int64_t> values = tensor.to_i64();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// The integers, of extent 1 along the last axis, that Cast(Equal(them, 0..n-1)) has 1 at.
ValueId places_of(const Graph& graph, const Links& links, ValueId value, int64_t n) {
  const Node* cast = maker(graph, links, value, "Cast");
  const Node* equal = cast ? maker(graph, links, cast->inputs[0], "Equal") : nullptr;
  const int side = equal ? constant_side(graph, *equal) : -1;
  if (side < 0 || !counts(*graph.constant(equal->inputs[side]), n)) return kNoValue;
  const ValueId places = equal->inputs[1 - side];
  const auto type = graph.values[places].type();
  const auto& made = graph.values[equal->outputs[0]].shape;
  const bool integers = type && (type->dtype == DType::kI32 || type->dtype == DType::kI64);
  if (!integers || type->shape.empty() || type->shape.back() != 1 || !made) return kNoValue;
  Shape wanted = type->shape;
  wanted.back() = n;
  return *made == wanted ? places : kNoValue;
}

// 0 times what is not finite would be NaN in every row.
bool all_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.values<float>(), [](float v) { return std::isfinite(v); });
}

// The factor's rows, the bias added to each, and behind them the row of a place beyond all.
Tensor table_of(const Tensor& factor, const Tensor* bias) {
  const int64_t rows = factor.dim(0), columns = factor.dim(1);
  std::vector<float> values(static_cast<size_t>((rows + 1) * columns));
  for (int64_t i = 0; i < (rows + 1) * columns; ++i) {
    const float own = i < rows * columns ? factor.data<float>()[i] : 0;
    values[static_cast<size_t>(i)] = own + (bias ? bias->data<float>()[i % columns] : 0);
  }
  return Tensor::from(Shape{rows + 1, columns}, std::span<const float>(values));
}

ValueId integers(Graph& graph, const std::string& stem, DType dtype, int64_t value) {
  return graph.add_constant(graph.unique_name(stem), *Tensor::scalar(value).cast(dtype));
}

// Any place before the first row or behind the last gets the row of zeros there is behind it: -1
// counts from the end.
bool rewrite_product(Graph& graph, const Links& links, size_t n) {
  const Node product = graph.nodes[n];
  const Tensor* factor = graph.constant(product.inputs[1]);
  if (!factor || factor->dtype() != DType::kF32 || factor->rank() != 2) return false;
  if (!all_finite(*factor)) return false;
  const int64_t rows = factor->dim(0);
  const Tensor* bias = product.inputs.size() > 2 ? graph.constant(product.inputs[2]) : nullptr;
  if (product.inputs.size() > 2 && (!bias || bias->elements() != factor->dim(1))) return false;
  const ValueId places = places_of(graph, links, product.inputs[0], rows);
  if (places == kNoValue) return false;
  Shape shape = *graph.values[places].shape;
  const DType dtype = *graph.values[places].dtype;
  shape.pop_back();
  const ValueId table =
      graph.add_constant(graph.unique_name(product.name + "/table"), table_of(*factor, bias));
  const ValueId sizes = graph.add_constant(
      graph.unique_name(product.name + "/sizes"),
      Tensor::from(Shape{static_cast<int64_t>(shape.size())}, std::span<const int64_t>(shape)));
  const int at = static_cast<int>(n);
  graph.nodes[n].opset = std::max(product.opset, 13);  // of Clip for integers
  const ValueId flat = insert_node(graph, at, "Reshape", {places, sizes}, {}, shape);
  const ValueId least = integers(graph, product.name + "/least", dtype, -1);
  const ValueId most = integers(graph, product.name + "/most", dtype, rows);
  const ValueId kept = insert_node(graph, at + 1, "Clip", {flat, least, most}, {}, shape);
  become(graph.nodes[n + 2], "Gather", {table, kept}, {{"axis", int64_t{0}}});
  return true;
}

}  // namespace

void gather_one_hot(Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op == "MatMul" && node.domain.empty() && node.activation.act == Act::kNone)
      rewrite_product(graph, Links(graph), n);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
