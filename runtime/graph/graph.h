// The one graph representation: readers fill it, passes change it, the planner lowers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct Graph;
struct OpDef;

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional input or output that is not there

// What is applied to each element of a node's first output; see kernels/contract.h.
struct Activation {
  Act act = Act::kNone;
  double lo = 0, hi = 0;
  bool operator==(const Activation&) const = default;
};

struct Node {
  std::string name;  // unique in its graph
  std::string op;    // ONNX op type
  std::string domain;
  int opset = 0;                // version of the domain's operator set
  const OpDef* def = nullptr;   // nullptr: an op that clvet does not know (ReadOptions)
  std::vector<ValueId> inputs;  // kNoValue: optional and absent
  std::vector<ValueId> outputs;
  // How many of its last inputs are there for its subgraphs alone, which read them from outside.
  size_t captured = 0;
  Attributes attributes;
  Activation activation;  // set by passes; applied after the op
  // A step of an operator that works in f32 inside, or what halves would make another level of: on
  // a device at precision high.
  bool is_step = false;
  // Its constant weights are levels of 8 bits (kernels/weight_levels.h): find_level_weights().
  bool has_level_weights = false;

  // As messages name it.
  std::string label() const;
  // The attribute, or `fallback` where it is absent or of another kind.
  int64_t int_attr(std::string_view key, int64_t fallback) const;
  double float_attr(std::string_view key, double fallback) const;
  std::string string_attr(std::string_view key, std::string_view fallback) const;
  // nullptr where absent.
  const std::vector<int64_t>* ints_attr(std::string_view key) const;
  const std::vector<double>* floats_attr(std::string_view key) const;
  const Tensor* tensor_attr(std::string_view key) const;
  const Graph* graph_attr(std::string_view key) const;
  // Those of its attributes that are graphs, by name.
  std::map<std::string, const Graph*> graphs() const;
};

// The error, said to be of this node.
tl::unexpected<Error> at_node(Error error, const Node& node);

struct Value {
  std::string name;  // unique in its graph
  // Known from the file (inputs) or from inference; a dim of -1 is open.
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  // Of an input, what the model calls its extents; "" where it gives no name, or none at all.
  std::vector<std::string> extent_names;
  std::optional<Tensor> constant;
  // Type and shape where all of it is known.
  std::optional<TensorType> type() const;
  std::string extent_name(size_t axis) const {
    return axis < extent_names.size() ? extent_names[axis] : std::string();
  }
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;      // in an order in which each node follows those it reads from
  std::vector<ValueId> inputs;  // what a caller must give; initialisers are not among them
  std::vector<ValueId> outputs;
  std::map<std::string, Tensor> given;  // former inputs, by name: constants since specialise()
  std::map<std::string, std::string> metadata;
  bool has_levels = false;  // a node reads, or read, a constant of 8 bits that is no single value
  // Of a subgraph: which input of the owning node each of the last of `inputs` is. Those before
  // them are the subgraph's own: the operator gives them.
  std::vector<int> captures;

  ValueId add_value(std::string value_name);
  ValueId add_constant(std::string value_name, Tensor tensor);
  // A name that no value has, beginning with `stem`.
  std::string unique_name(const std::string& stem) const;
  ValueId find_value(std::string_view value_name) const;  // kNoValue where there is none
  const Tensor* constant(ValueId id) const;               // nullptr where it is not constant
  bool is_output(ValueId id) const;
  // False where a node, also one of a subgraph, has no def.
  bool knows_all_ops() const;
};

// Which node makes each value, and which nodes read it; valid until the graph changes.
struct Links {
  explicit Links(const Graph& graph);
  std::vector<int> producer;                // by value; -1: input or constant
  std::vector<std::vector<int>> consumers;  // by value; a node twice if it reads it twice
};

// Orders the nodes; kInvalidArgument names a node on a cycle, a value made twice or never made.
Status sort_topologically(Graph& graph);
// Replaces every read of `from`, graph outputs included, by `to`.
void replace_uses(Graph& graph, ValueId from, ValueId to);
// Removes nodes that no output needs, then values that nothing mentions (ids change).
void remove_dead_code(Graph& graph);

}  // namespace clvet
