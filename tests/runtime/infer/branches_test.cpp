// runtime/infer/branches.h, as specialise() uses it.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/run/run_model.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op);
  return ops;
}

// z = -(rate == 16000 ? relu(x) : x)
ModelBuilder by_rate() {
  ModelBuilder model;
  model.input("x", {2}, kFloat).input("rate", {}, kInt64).constant_i64("known", {16000});
  model.graph().mutable_initializer(0)->clear_dims();
  model.node("Equal", {"rate", "known"}, {"c"});
  test::add_if(model, test::branch("Relu", {"x"}, "t"), test::branch("Identity", {"x"}, "e"));
  model.node("Neg", {"y"}, {"z"});
  model.output("z");
  return model;
}

Tensor rate(int64_t value) { return Tensor::scalar<int64_t>(value); }

TEST(KnownBranch, StandsForItsIf) {
  Graph whole = by_rate().build();
  ASSERT_TRUE(infer_and_fold(whole));
  const auto graph = specialise(whole, {}, {{"rate", rate(16000)}});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), ElementsAre("Relu", "Neg"));
  EXPECT_EQ(graph->nodes[0].name, "If_y/then_branch/Relu_t");
  EXPECT_TRUE(graph->given.contains("rate"));
}

TEST(KnownBranch, MayMakeNothingOfItsOwn) {
  ModelBuilder model = by_rate();
  for (const auto& [value, first] : std::map<int64_t, float>{{16000, 0}, {8000, 3}}) {
    const auto run =
        run_model(model.build(), {{"x", Tensor::of<float>({2}, {-3, 4})}, {"rate", rate(value)}},
                  nullptr, {});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_THAT(test::floats(run->outputs.at("z")), ElementsAre(first, -4));
  }
}

TEST(KnownBranch, StaysAnIfWhereTheConditionIsComputed) {
  ModelBuilder model;
  model.input("x", {2}).input("s", {}, kFloat).constant("zero", {}, {0});
  model.node("Greater", {"s", "zero"}, {"c"});
  test::add_if(model, test::branch("Relu", {"x"}, "t"), test::branch("Neg", {"x"}, "e"));
  model.node("Add", {"y", "s"}, {"z"});
  model.output("z");
  const auto graph = specialise(model.build(), {}, {{"s", Tensor::scalar<float>(1)}});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), ElementsAre("Greater", "If", "Add")) << "s is read as a number, too";
}

// An If within the branch, and a constant of its own.
TEST(KnownBranch, MayHoldOthers) {
  ModelBuilder inner;
  inner.constant("k", {2}, {1, 2});
  inner.node("Add", {"x", "k"}, {"y2"});
  inner.output("y2");
  ModelBuilder middle;
  auto& node = middle.node("If", {"d"}, {"y1"});
  test::set_graph(node, "then_branch", inner.graph());
  test::set_graph(node, "else_branch", test::branch("Neg", {"x"}, "n2"));
  middle.output("y1");
  ModelBuilder model;
  model.input("x", {2}).input("c", {}, kBool).input("d", {}, kBool);
  auto& outer = model.node("If", {"c"}, {"y"});
  test::set_graph(outer, "then_branch", middle.graph());
  test::set_graph(outer, "else_branch", test::branch("Neg", {"x"}, "n1"));
  model.output("y");
  const auto run = run_model(model.build(),
                             {{"x", Tensor::of<float>({2}, {10, 20})},
                              {"c", Tensor::scalar<bool>(true)},
                              {"d", Tensor::scalar<bool>(true)}},
                             nullptr, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(test::floats(run->outputs.at("y")), ElementsAre(11, 22));
  ASSERT_EQ(run->record.nodes.size(), 1u);
  EXPECT_EQ(run->record.nodes[0].op, "Add");
}

}  // namespace
}  // namespace clvet
