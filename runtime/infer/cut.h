// A graph in two, where its shapes stop to follow from the shapes of its inputs.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "runtime/graph/graph.h"

namespace clvet {

// What is to run once the nodes before it have run. Its inputs, by their names in the whole graph,
// are values that these made, and inputs of the graph.
struct RestOfGraph {
  Graph graph;
  std::set<std::string> deciding;  // inputs whose values decide shapes: as specialise() takes them
};

struct CutGraph {
  Graph before;  // has all inputs of the graph; its outputs are what the rest reads, too
  RestOfGraph rest;
};

// Of a graph whose inputs have known shapes (specialise() and optimise() it first). The rest are
// the nodes whose types are not known, but for those whose own run alone tells what they make
// (NonZero, a loop): these run before the cut. With the values in `deciding` known, the rest has
// more known types than it had, or fewer nodes: who cuts it again and again comes to an end.
// Nothing: all types are known, or no node of the rest has weights or is a product. What only moves
// or maps values is computed by the host before its shapes would be found and its nodes planned.
std::optional<CutGraph> cut_at_unknown_shapes(const Graph& graph);

}  // namespace clvet
