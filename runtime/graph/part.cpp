#include "runtime/graph/part.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"

namespace clvet {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id); }

ValueSet made_by(const Graph& graph, const NodeSet& nodes) {
  ValueSet made(graph.values.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (nodes[n]) mark(graph.nodes[n].outputs, made);
  return made;
}

bool any(const std::vector<ValueId>& ids, const ValueSet& of) {
  return std::any_of(ids.begin(), ids.end(),
                     [&](ValueId id) { return id != kNoValue && of[at(id)]; });
}

// Copies what is asked for, once.
class Copy {
 public:
  explicit Copy(const Graph& graph) : from_(graph) { part_.name = graph.name; }

  ValueId value(ValueId id) {
    if (id == kNoValue) return id;
    const auto [row, added] = ids_.try_emplace(id, static_cast<ValueId>(part_.values.size()));
    if (added) part_.values.push_back(from_.values[at(id)]);
    return row->second;
  }
  void node(const Node& node) {
    Node copy = node;
    for (ValueId& id : copy.inputs) id = value(id);
    for (ValueId& id : copy.outputs) id = value(id);
    part_.nodes.push_back(std::move(copy));
  }
  Graph& part() { return part_; }

 private:
  const Graph& from_;
  Graph part_;
  std::map<ValueId, ValueId> ids_;
};

}  // namespace

void mark(const std::vector<ValueId>& ids, ValueSet& values) {
  for (const ValueId id : ids)
    if (id != kNoValue) values[at(id)] = true;
}

void close_ways(const Graph& graph, NodeSet& nodes) {
  const size_t count = graph.nodes.size();
  ValueSet after = made_by(graph, nodes);
  NodeSet reached(count, false);
  for (size_t n = 0; n < count; ++n) {
    reached[n] = any(graph.nodes[n].inputs, after);
    if (reached[n]) mark(graph.nodes[n].outputs, after);
  }
  ValueSet before(graph.values.size(), false);
  for (size_t n = count; n-- > 0;) {
    const bool leads = any(graph.nodes[n].outputs, before);
    if (leads && reached[n]) nodes[n] = true;
    if (leads || nodes[n]) mark(graph.nodes[n].inputs, before);
  }
}

bool add_readers(const Graph& graph, NodeSet& nodes) {
  const ValueSet made = made_by(graph, nodes);
  bool added = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (nodes[n] || !any(graph.nodes[n].inputs, made)) continue;
    nodes[n] = true;
    added = true;
  }
  return added;
}

Graph part_of(const Graph& graph, const NodeSet& nodes, const std::vector<ValueId>& outputs) {
  const ValueSet made = made_by(graph, nodes);
  ValueSet read(graph.values.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (nodes[n]) mark(graph.nodes[n].inputs, read);
  mark(outputs, read);
  Copy copy(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (nodes[n]) copy.node(graph.nodes[n]);
  Graph& part = copy.part();
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const auto id = static_cast<ValueId>(v);
    if (read[v] && !made[v] && !graph.constant(id)) part.inputs.push_back(copy.value(id));
  }
  for (const ValueId id : outputs) part.outputs.push_back(copy.value(id));
  return part;
}

Graph part_of(const Graph& graph, const NodeSet& nodes) {
  const ValueSet made = made_by(graph, nodes);
  ValueSet read(graph.values.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (nodes[n]) mark(graph.nodes[n].inputs, read);
  std::vector<ValueId> outputs;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (made[v] && !read[v]) outputs.push_back(static_cast<ValueId>(v));
  return part_of(graph, nodes, outputs);
}

}  // namespace clvet
