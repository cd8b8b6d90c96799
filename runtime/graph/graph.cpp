#include "runtime/graph/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

template <class T>
const T* get(const Attributes& attributes, std::string_view key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : found->second.get_if<T>();
}

Result<std::vector<int>> producers(const Graph& graph) {
  std::vector<int> producer(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId out : graph.nodes[n].outputs) {
      if (out == kNoValue) continue;
      const bool taken =
          producer[out] >= 0 || graph.constant(out) ||
          std::find(graph.inputs.begin(), graph.inputs.end(), out) != graph.inputs.end();
      if (taken) {
        return fail(ErrorCode::kInvalidArgument, "{} computes '{}', which exists already",
                    graph.nodes[n].label(), graph.values[out].name);
      }
      producer[out] = static_cast<int>(n);
    }
  }
  return producer;
}

Status check_reads(const Graph& graph, const std::vector<int>& producer) {
  std::vector<bool> made(graph.values.size(), false);
  for (size_t v = 0; v < made.size(); ++v) {
    made[v] = producer[v] >= 0 || graph.values[v].constant.has_value();
  }
  for (const ValueId input : graph.inputs) made[input] = true;
  for (const Node& node : graph.nodes) {
    for (const ValueId in : node.inputs) {
      if (in != kNoValue && !made[in]) {
        return fail(ErrorCode::kInvalidArgument, "{} reads '{}', which no node computes",
                    node.label(), graph.values[in].name);
      }
    }
  }
  for (const ValueId out : graph.outputs) {
    if (!made[out]) {
      return fail(ErrorCode::kInvalidArgument, "no node computes the output '{}'",
                  graph.values[out].name);
    }
  }
  return {};
}

// By node: how many of its inputs other nodes have still to make, and who reads what it makes.
struct Waiting {
  std::vector<int> counts;
  std::vector<std::vector<size_t>> readers;
};

Waiting waiting_of(const Graph& graph, const std::vector<int>& producer) {
  const size_t count = graph.nodes.size();
  Waiting waiting{std::vector<int>(count, 0), std::vector<std::vector<size_t>>(count)};
  for (size_t n = 0; n < count; ++n) {
    for (const ValueId in : graph.nodes[n].inputs) {
      if (in == kNoValue || producer[in] < 0) continue;
      waiting.readers[producer[in]].push_back(n);
      ++waiting.counts[n];
    }
  }
  return waiting;
}

// The nodes that wait for none but earlier ones; the rest is left with its counts.
std::vector<size_t> order_of(Waiting& waiting) {
  // The smallest ready index first keeps a file's own order where that is already right.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < waiting.counts.size(); ++n) {
    if (!waiting.counts[n]) ready.push(n);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t n = ready.top();
    ready.pop();
    for (const size_t reader : waiting.readers[n]) {
      if (--waiting.counts[reader] == 0) ready.push(reader);
    }
    order.push_back(n);
  }
  return order;
}

// Removes the nodes of which nothing is read; true for each value that is read after that.
std::vector<bool> remove_dead_nodes(Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  for (const ValueId out : graph.outputs) needed[out] = true;
  std::vector<Node> kept;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    const bool keep = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](ValueId out) { return out != kNoValue && needed[out]; });
    if (!keep) continue;
    for (const ValueId in : node.inputs) {
      if (in != kNoValue) needed[in] = true;
    }
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  return needed;
}

void rename(const std::vector<ValueId>& renamed, std::vector<ValueId>& ids) {
  for (ValueId& id : ids) id = id == kNoValue ? kNoValue : renamed[id];
}

void keep_values(const std::vector<bool>& needed, Graph& graph) {
  std::vector<ValueId> renamed(graph.values.size(), kNoValue);
  std::vector<Value> values;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!needed[v]) continue;
    renamed[v] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(values);
  for (Node& node : graph.nodes) {
    rename(renamed, node.inputs);
    rename(renamed, node.outputs);
  }
  rename(renamed, graph.inputs);
  rename(renamed, graph.outputs);
}

}  // namespace

std::string Node::label() const { return fmt::format("node '{}' ({})", name, op); }

tl::unexpected<Error> at_node(Error error, const Node& node) {
  error.message = fmt::format("node '{}' ({}): {}", node.name, node.op, error.message);
  return tl::unexpected<Error>(std::move(error));
}

int64_t Node::int_attr(std::string_view key, int64_t fallback) const {
  const auto* value = get<int64_t>(attributes, key);
  return value ? *value : fallback;
}

double Node::float_attr(std::string_view key, double fallback) const {
  const auto* value = get<double>(attributes, key);
  return value ? *value : fallback;
}

std::string Node::string_attr(std::string_view key, std::string_view fallback) const {
  const auto* value = get<std::string>(attributes, key);
  return value ? *value : std::string(fallback);
}

const std::vector<int64_t>* Node::ints_attr(std::string_view key) const {
  return get<std::vector<int64_t>>(attributes, key);
}

const std::vector<double>* Node::floats_attr(std::string_view key) const {
  return get<std::vector<double>>(attributes, key);
}

const Tensor* Node::tensor_attr(std::string_view key) const { return get<Tensor>(attributes, key); }

const Graph* Node::graph_attr(std::string_view key) const {
  const auto* value = get<std::shared_ptr<const Graph>>(attributes, key);
  return value ? value->get() : nullptr;
}

std::map<std::string, const Graph*> Node::graphs() const {
  std::map<std::string, const Graph*> found;
  for (const auto& [key, attribute] : attributes) {
    if (const Graph* graph = graph_attr(key)) found[key] = graph;
  }
  return found;
}

std::optional<TensorType> Value::type() const {
  if (constant) return constant->type();
  if (!dtype || !shape) return std::nullopt;
  for (const int64_t dim : *shape) {
    if (dim < 0) return std::nullopt;
  }
  return TensorType{*dtype, *shape};
}

ValueId Graph::add_value(std::string value_name) {
  values.push_back(Value{std::move(value_name), {}, {}, {}});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  const ValueId id = add_value(std::move(value_name));
  values[id].dtype = tensor.dtype();
  values[id].shape = tensor.shape();
  values[id].constant = std::move(tensor);
  return id;
}

std::string Graph::unique_name(const std::string& stem) const {
  if (find_value(stem) == kNoValue) return stem;
  for (int i = 1;; ++i) {
    std::string candidate = stem + "." + std::to_string(i);
    if (find_value(candidate) == kNoValue) return candidate;
  }
}

ValueId Graph::find_value(std::string_view value_name) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == value_name) return static_cast<ValueId>(i);
  }
  return kNoValue;
}

const Tensor* Graph::constant(ValueId id) const {
  if (id == kNoValue || !values[id].constant) return nullptr;
  return &*values[id].constant;
}

bool Graph::is_output(ValueId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

bool Graph::knows_all_ops() const {
  return std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
    const auto inner = node.graphs();
    return node.def && std::all_of(inner.begin(), inner.end(),
                                   [](const auto& row) { return row.second->knows_all_ops(); });
  });
}

Links::Links(const Graph& graph)
    : producer(graph.values.size(), -1), consumers(graph.values.size()) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId in : graph.nodes[n].inputs) {
      if (in != kNoValue) consumers[in].push_back(static_cast<int>(n));
    }
    for (const ValueId out : graph.nodes[n].outputs) {
      if (out != kNoValue) producer[out] = static_cast<int>(n);
    }
  }
}

Status sort_topologically(Graph& graph) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int> producer, producers(graph));
  CLVET_RETURN_IF_ERROR(check_reads(graph, producer));
  Waiting waiting = waiting_of(graph, producer);
  const std::vector<size_t> order = order_of(waiting);
  if (order.size() < graph.nodes.size()) {
    const auto& counts = waiting.counts;
    const size_t stuck =
        std::find_if(counts.begin(), counts.end(), [](int w) { return w > 0; }) - counts.begin();
    return fail(ErrorCode::kInvalidArgument, "the nodes form a cycle; {} is in it or depends on it",
                graph.nodes[stuck].label());
  }
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const size_t n : order) sorted.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(sorted);
  return {};
}

void replace_uses(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(graph.outputs.begin(), graph.outputs.end(), from, to);
}

void remove_dead_code(Graph& graph) {
  std::vector<bool> needed = remove_dead_nodes(graph);
  for (const Node& node : graph.nodes) {
    for (const ValueId out : node.outputs) {
      if (out != kNoValue) needed[out] = true;
    }
  }
  for (const ValueId in : graph.inputs) needed[in] = true;
  keep_values(needed, graph);
}

}  // namespace clvet
