#include "runtime/graph/part.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// x -> a -> b -> d -> e, a -> c -> d: a diamond with a tail; b also reads a constant.
Graph diamond() {
  test::ModelBuilder model;
  model.input("x", {2}).constant("k", {1}, {2});
  model.node("Abs", {"x"}, {"a"}).set_name("a");
  model.node("Mul", {"a", "k"}, {"b"}).set_name("b");
  model.node("Neg", {"a"}, {"c"}).set_name("c");
  model.node("Add", {"b", "c"}, {"d"}).set_name("d");
  model.node("Exp", {"d"}, {"e"}).set_name("e");
  return model.output("e").build();
}

NodeSet set_of(const Graph& graph, const std::vector<std::string>& names) {
  NodeSet nodes;
  for (const Node& node : graph.nodes)
    nodes.push_back(std::find(names.begin(), names.end(), node.name) != names.end());
  return nodes;
}

std::vector<std::string> names_of(const Graph& graph, const NodeSet& nodes) {
  std::vector<std::string> names;
  for (size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n]) names.push_back(graph.nodes[n].name);
  return names;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(graph.values[static_cast<size_t>(id)].name);
  return names;
}

TEST(CloseWays, AddsAllNodesBetween) {
  const Graph graph = diamond();
  NodeSet nodes = set_of(graph, {"a", "d"});
  close_ways(graph, nodes);
  EXPECT_THAT(names_of(graph, nodes), UnorderedElementsAre("a", "b", "c", "d"));
}

TEST(CloseWays, AddsNothingToNodesBesideEachOther) {
  const Graph graph = diamond();
  NodeSet nodes = set_of(graph, {"b", "c"});
  close_ways(graph, nodes);
  EXPECT_THAT(names_of(graph, nodes), UnorderedElementsAre("b", "c"));
}

TEST(AddReaders, AddsOneLayerAtATime) {
  const Graph graph = diamond();
  NodeSet nodes = set_of(graph, {"a"});
  EXPECT_TRUE(add_readers(graph, nodes));
  EXPECT_THAT(names_of(graph, nodes), UnorderedElementsAre("a", "b", "c"));
  EXPECT_TRUE(add_readers(graph, nodes));
  EXPECT_TRUE(add_readers(graph, nodes));
  EXPECT_EQ(names_of(graph, nodes).size(), 5u);
  EXPECT_FALSE(add_readers(graph, nodes));
}

TEST(PartOf, ReadsWhatNoNodeOfItMakes) {
  const Graph graph = diamond();
  const Graph part = part_of(graph, set_of(graph, {"b", "d"}));
  EXPECT_THAT(names_of(part, part.inputs), UnorderedElementsAre("a", "c"));
  EXPECT_THAT(names_of(part, part.outputs), ElementsAre("d"));
  ASSERT_EQ(part.nodes.size(), 2u);
  EXPECT_EQ(part.nodes[0].name, "b");
  ASSERT_NE(part.constant(part.find_value("k")), nullptr);
  EXPECT_EQ(part.find_value("e"), kNoValue);
}

TEST(PartOf, LeavesOptionalInputsOut) {
  test::ModelBuilder model;
  model.input("x", {2}).constant("high", {}, {1});
  model.node("Clip", {"x", "", "high"}, {"y"});
  const Graph graph = model.output("y").build();
  const Graph part = part_of(graph, {true});
  EXPECT_EQ(part.nodes[0].inputs[1], kNoValue);
  EXPECT_EQ(part.inputs.size(), 1u);
}

TEST(PartOf, HasTheOutputsThatAreAskedForAlsoWhereItReadsThemItself) {
  const Graph graph = diamond();
  const Graph part =
      part_of(graph, set_of(graph, {"a", "b"}), {graph.find_value("a"), graph.find_value("x")});
  EXPECT_THAT(names_of(part, part.outputs), ElementsAre("a", "x"));
  EXPECT_THAT(names_of(part, part.inputs), ElementsAre("x"));
}

}  // namespace
}  // namespace clvet
