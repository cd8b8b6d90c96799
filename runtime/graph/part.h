// A part of a graph as a graph of its own.
#pragma once

#include <vector>

#include "runtime/graph/graph.h"

namespace clvet {

// By node, and by value, of a graph.
using NodeSet = std::vector<bool>;
using ValueSet = std::vector<bool>;

// Adds those that are there.
void mark(const std::vector<ValueId>& ids, ValueSet& values);

// Adds the nodes on all ways from one of the set to another one, so that no value leaves the set
// and comes back.
void close_ways(const Graph& graph, NodeSet& nodes);
// Adds the nodes that read a value that the set makes; false: there are none.
bool add_readers(const Graph& graph, NodeSet& nodes);

// Its inputs are the values that its nodes read and none of them makes, constants apart; its
// outputs those that its nodes make and none of them reads. Names and order stay; tensors are
// shared.
Graph part_of(const Graph& graph, const NodeSet& nodes);
// The same with these outputs, which its nodes make or which are inputs or constants of the graph.
Graph part_of(const Graph& graph, const NodeSet& nodes, const std::vector<ValueId>& outputs);

}  // namespace clvet
