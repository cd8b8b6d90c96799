// An If whose condition is known is the branch that it takes.
#pragma once

#include <vector>

#include "runtime/graph/graph.h"

namespace clvet {

bool is_if(const Node& node);

// Whether the node is an If with a known condition and a branch for it.
bool takes_known_branch(const Graph& graph, const Node& node);

// The nodes of that branch (takes_known_branch()), as nodes of the graph; what the If makes, they
// make. Nodes are called <If>/then_branch/<node>.
std::vector<Node> nodes_of_branch(Graph& graph, const Node& node);

// Whether the value decides which branches are taken, and nothing else: it is a condition, or all
// that is made of it are integers and truth values that lead to conditions.
bool decides_branches(const Graph& graph, ValueId id);

}  // namespace clvet
