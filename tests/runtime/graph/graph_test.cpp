#include "runtime/graph/graph.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A graph written as names: "out = op(in, in)".
class Sketch {
 public:
  Sketch& input(const std::string& name) {
    graph.inputs.push_back(id(name));
    return *this;
  }
  Sketch& output(const std::string& name) {
    graph.outputs.push_back(id(name));
    return *this;
  }
  Sketch& constant(const std::string& name) {
    graph.add_constant(name, Tensor::scalar(1.f));
    return *this;
  }
  Sketch& node(const std::string& name, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs) {
    Node node;
    node.name = name;
    node.op = "Op";
    for (const std::string& each : inputs) node.inputs.push_back(id(each));
    for (const std::string& each : outputs) node.outputs.push_back(id(each));
    graph.nodes.push_back(std::move(node));
    return *this;
  }
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes) names.push_back(node.name);
    return names;
  }
  std::vector<std::string> values() const {
    std::vector<std::string> names;
    for (const Value& value : graph.values) names.push_back(value.name);
    return names;
  }

  Graph graph;

 private:
  ValueId id(const std::string& name) {
    if (name.empty()) return kNoValue;
    const ValueId found = graph.find_value(name);
    return found == kNoValue ? graph.add_value(name) : found;
  }
};

TEST(SortTopologically, PutsEachNodeBehindThoseItReadsFromAndKeepsTheFilesOrderElsewhere) {
  Sketch sketch;
  sketch.input("x").constant("w");
  sketch.node("d", {"b", "c"}, {"d"}).node("c", {"a", ""}, {"c"}).node("side", {"x"}, {"s"});
  sketch.node("b", {"a", "w"}, {"b"}).node("a", {"x"}, {"a", ""});
  sketch.output("d").output("s");
  ASSERT_TRUE(sort_topologically(sketch.graph));
  EXPECT_THAT(sketch.order(), ElementsAre("side", "a", "c", "b", "d"));
}

TEST(SortTopologically, TakesANodeThatReadsOneValueTwice) {
  Sketch sketch;
  sketch.input("x").node("square", {"a", "a"}, {"y"}).node("a", {"x"}, {"a"}).output("y");
  ASSERT_TRUE(sort_topologically(sketch.graph));
  EXPECT_THAT(sketch.order(), ElementsAre("a", "square"));
}

TEST(SortTopologically, OrdersLongChainsWhateverTheirOrderInTheFile) {
  constexpr int kLength = 3000;
  Graph graph;
  for (int i = 0; i <= kLength; ++i) graph.add_value("v" + std::to_string(i));
  graph.inputs = {0};
  graph.outputs = {kLength};
  std::vector<int> order;
  for (int i = 0; i < kLength; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  for (const int i : order) {
    Node node;
    node.inputs = {i};
    node.outputs = {i + 1};
    graph.nodes.push_back(node);
  }
  ASSERT_TRUE(sort_topologically(graph));
  for (int i = 0; i < kLength; ++i) ASSERT_EQ(graph.nodes[i].inputs[0], i);
}

TEST(SortTopologically, RefusesWhatCannotBeOrderedAndNamesIt) {
  struct Row {
    const char* part;
    void (*draw)(Sketch&);
  };
  const Row rows[] = {
      {"cycle; node 'a'",
       [](Sketch& s) { s.node("a", {"b"}, {"a"}).node("b", {"a"}, {"b"}).output("b"); }},
      {"cycle", [](Sketch& s) { s.node("self", {"y"}, {"y"}).output("y"); }},
      {"node 'two' (Op) computes 'y', which exists already",
       [](Sketch& s) { s.node("one", {"x"}, {"y"}).node("two", {"x"}, {"y"}).output("y"); }},
      {"node 'n' (Op) computes 'y', which exists already",
       [](Sketch& s) {
         s.node("n", {"x"}, {"y", "y"}).output("y");
       }},
      {"computes 'x'", [](Sketch& s) { s.node("n", {"x"}, {"x"}).output("x"); }},
      {"computes 'w'", [](Sketch& s) { s.constant("w").node("n", {"x"}, {"w"}).output("w"); }},
      {"node 'n' (Op) reads 'nowhere', which no node computes",
       [](Sketch& s) { s.node("n", {"nowhere"}, {"y"}).output("y"); }},
      {"no node computes the output 'z'", [](Sketch& s) { s.output("z"); }},
  };
  for (const Row& row : rows) {
    Sketch sketch;
    sketch.input("x");
    row.draw(sketch);
    const Status sorted = sort_topologically(sketch.graph);
    ASSERT_FALSE(sorted) << row.part;
    EXPECT_EQ(sorted.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(sorted.error().message, HasSubstr(row.part));
  }
}

TEST(RemoveDeadCode, KeepsWhatOutputsNeedAndAllInputs) {
  Sketch sketch;
  sketch.input("x").input("unread").constant("w").constant("unused");
  sketch.node("a", {"x", "w"}, {"a", "second"}).node("dead", {"a", "unused"}, {"d"});
  sketch.node("deader", {"d"}, {"e"}).node("y", {"", "a"}, {"y", ""}).output("y");
  remove_dead_code(sketch.graph);
  EXPECT_THAT(sketch.order(), ElementsAre("a", "y"));
  EXPECT_THAT(sketch.values(), ElementsAre("x", "unread", "w", "a", "second", "y"));
  const Graph& graph = sketch.graph;
  EXPECT_EQ(graph.values[graph.nodes[1].inputs[1]].name, "a");
  EXPECT_EQ(graph.nodes[1].inputs[0], kNoValue);
  EXPECT_EQ(graph.nodes[1].outputs[1], kNoValue);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
}

TEST(RemoveDeadCode, KeepsANodeOfWhichOnlyTheSecondOutputIsRead) {
  Sketch sketch;
  sketch.input("x").node("split", {"x"}, {"first", "second"}).output("second");
  remove_dead_code(sketch.graph);
  EXPECT_THAT(sketch.order(), ElementsAre("split"));
  EXPECT_EQ(sketch.graph.values[sketch.graph.nodes[0].outputs[1]].name, "second");
}

TEST(RemoveDeadCode, LeavesOutputsThatAreInputsOrConstants) {
  Sketch sketch;
  sketch.input("x").constant("w").node("n", {"x"}, {"y"}).output("x").output("w");
  remove_dead_code(sketch.graph);
  EXPECT_THAT(sketch.order(), IsEmpty());
  EXPECT_THAT(sketch.values(), ElementsAre("x", "w"));
  EXPECT_NE(sketch.graph.constant(sketch.graph.outputs[1]), nullptr);
}

TEST(ReplaceUses, ReachesEveryReaderAndTheOutputsButNoProducer) {
  Sketch sketch;
  sketch.input("x").node("a", {"x"}, {"a"}).node("b", {"a", "a", "x"}, {"b"});
  sketch.output("a").output("b");
  Graph& graph = sketch.graph;
  const ValueId a = graph.find_value("a"), x = graph.find_value("x");
  replace_uses(graph, a, x);
  EXPECT_THAT(graph.nodes[1].inputs, ElementsAre(x, x, x));
  EXPECT_EQ(graph.outputs[0], x);
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre(a));
}

TEST(Links, KnowTheMakerAndEveryReadingOfAValue) {
  Sketch sketch;
  sketch.input("x").node("a", {"x"}, {"a", "b"}).node("c", {"a", "", "a", "b"}, {"c"});
  const Links links(sketch.graph);
  const auto id = [&](const char* name) { return sketch.graph.find_value(name); };
  EXPECT_EQ(links.producer[id("x")], -1);
  EXPECT_EQ(links.producer[id("b")], 0);
  EXPECT_THAT(links.consumers[id("a")], ElementsAre(1, 1));
  EXPECT_THAT(links.consumers[id("c")], IsEmpty());
}

TEST(GraphNames, GrowByANumberWhereTheyAreTaken) {
  Graph graph;
  EXPECT_EQ(graph.unique_name("v"), "v");
  graph.add_value("v");
  graph.add_value("v.1");
  graph.add_value("v.3");
  EXPECT_EQ(graph.unique_name("v"), "v.2");
  EXPECT_EQ(graph.find_value("V"), kNoValue);
}

TEST(NodeAttributes, GiveTheFallbackWhereTheyAreAbsentOrOfAnotherKind) {
  Node node;
  node.attributes = {{"i", int64_t{7}},
                     {"f", 2.5},
                     {"s", std::string("text")},
                     {"I", std::vector<int64_t>{1, 2}},
                     {"F", std::vector<double>{0.5}},
                     {"t", Tensor::scalar(3.f)},
                     {"g", std::make_shared<const Graph>()}};
  EXPECT_EQ(node.int_attr("i", 1), 7);
  EXPECT_EQ(node.int_attr("f", 1), 1) << "2.5 is no integer";
  EXPECT_EQ(node.float_attr("f", 1), 2.5);
  EXPECT_EQ(node.float_attr("i", 1), 1);
  EXPECT_EQ(node.string_attr("s", "no"), "text");
  EXPECT_EQ(node.string_attr("absent", "no"), "no");
  ASSERT_NE(node.ints_attr("I"), nullptr);
  EXPECT_THAT(*node.ints_attr("I"), ElementsAre(1, 2));
  EXPECT_EQ(node.ints_attr("F"), nullptr);
  EXPECT_THAT(*node.floats_attr("F"), ElementsAre(0.5));
  EXPECT_EQ(node.tensor_attr("t")->to_f64()[0], 3);
  EXPECT_EQ(node.tensor_attr("g"), nullptr);
  EXPECT_NE(node.graph_attr("g"), nullptr);
  EXPECT_EQ(node.graph_attr("t"), nullptr);
}

TEST(Value, HasATypeOnceAllOfItIsKnown) {
  Value value;
  EXPECT_FALSE(value.type());
  value.dtype = DType::kF32;
  EXPECT_FALSE(value.type());
  value.shape = Shape{2, -1};
  EXPECT_FALSE(value.type()) << "an extent is open";
  value.shape = Shape{2, 0};
  EXPECT_EQ(to_string(*value.type()), "f32[2,0]");
  value.constant = Tensor::scalar(int64_t{1});
  EXPECT_EQ(to_string(*value.type()), "i64[]") << "a constant says what it is";
}

}  // namespace
}  // namespace clvet
