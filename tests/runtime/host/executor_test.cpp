#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

Graph two_layers() {
  ModelBuilder model;
  model.input("x", {-1, 2}).constant("w", {2, 1}, {1, -1});
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Relu", {"m"}, {"y"});
  model.output("y").output("m");
  return model.build();
}

TEST(HostExecutor, RunsAndTimesEveryNode) {
  const HostExecutor executor(two_layers());
  const auto run = executor.run({{"x", Tensor::of<float>({2, 2}, {1, 3, 5, 1})}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(test::floats(run->outputs.at("m")), (std::vector<float>{-2, 4}));
  EXPECT_EQ(test::floats(run->outputs.at("y")), (std::vector<float>{0, 4}));
  ASSERT_EQ(run->nodes.size(), 2u);
  EXPECT_EQ(run->nodes[0].op, "MatMul");
  EXPECT_GE(run->nodes[0].ms, 0);
}

TEST(HostExecutor, TakesAnotherBatchOnTheNextRun) {
  const HostExecutor executor(two_layers());
  for (const int64_t batch : {1, 4, 0}) {
    const auto run = executor.run({{"x", test::noise({batch, 2})}});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->outputs.at("y").shape(), (Shape{batch, 1}));
  }
}

TEST(HostExecutor, ShowsEachNodesOutputs) {
  std::vector<std::string> seen;
  const HostExecutor executor(two_layers());
  ASSERT_TRUE(executor.run({{"x", test::noise({1, 2})}},
                           [&](const Node& node, std::span<const Tensor> outputs) {
                             seen.push_back(node.op + to_string(outputs[0].type()));
                           }));
  EXPECT_EQ(seen, (std::vector<std::string>{"MatMulf32[1,1]", "Reluf32[1,1]"}));
}

TEST(HostExecutor, RefusesInputsThatDoNotFit) {
  const HostExecutor executor(two_layers());
  const struct {
    std::map<std::string, Tensor> inputs;
    const char* part;
  } faults[] = {
      {{}, "'x' was not given"},
      {{{"x", Tensor::of<int64_t>({1, 2}, {1, 2})}}, "is i64, but the model takes f32"},
      {{{"x", test::noise({1, 3})}}, "[1,3], but the model takes [?,2]"},
      {{{"x", test::noise({2})}}, "[2], but the model takes"},
      {{{"x", test::noise({1, 2})}, {"z", test::noise({1})}}, "no input 'z'"},
  };
  for (const auto& fault : faults) {
    const auto run = executor.run(fault.inputs);
    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().message, HasSubstr(fault.part));
  }
}

onnx::GraphProto branch(const std::string& op, const std::string& output) {
  onnx::GraphProto graph;
  auto* node = graph.add_node();
  node->set_op_type(op);
  node->add_input("x");
  node->add_input("m");
  node->add_output(output);
  graph.add_output()->set_name(output);
  return graph;
}

TEST(HostExecutor, RunsTheBranchOfAnIfWithCapturedValues) {
  ModelBuilder model;
  model.input("x", {2}).input("go", {}, 9);
  model.node("Relu", {"x"}, {"m"});
  auto& node = model.node("If", {"go"}, {"y"});
  for (const auto& [name, op] :
       {std::pair{"then_branch", "Add"}, std::pair{"else_branch", "Sub"}}) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(5);
    *attribute->mutable_g() = branch(op, std::string("r_") + op);
  }
  model.output("y");
  const HostExecutor executor(model.build());
  const Tensor x = Tensor::of<float>({2}, {3, -2});
  for (const bool go : {true, false}) {
    const auto run = executor.run({{"x", x}, {"go", Tensor::scalar(go)}});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(test::floats(run->outputs.at("y")),
              go ? (std::vector<float>{6, -2}) : (std::vector<float>{0, -2}));
  }
}

// y = x + x: a value that one node reads twice and the caller wants as well.
TEST(HostExecutor, GivesOutInputsConstantsAndValuesReadTwice) {
  ModelBuilder model;
  model.input("x", {2}).constant("c", {1}, {7});
  model.node("Relu", {"x"}, {"r"});
  model.node("Add", {"r", "r"}, {"y"});
  for (const char* name : {"x", "c", "r", "y"}) model.output(name);
  const auto run = HostExecutor(model.build()).run({{"x", Tensor::of<float>({2}, {-1, 3})}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(test::floats(run->outputs.at("x")), (std::vector<float>{-1, 3}));
  EXPECT_EQ(test::floats(run->outputs.at("c")), (std::vector<float>{7}));
  EXPECT_EQ(test::floats(run->outputs.at("r")), (std::vector<float>{0, 3}));
  EXPECT_EQ(test::floats(run->outputs.at("y")), (std::vector<float>{0, 6}));
}

TEST(HostExecutor, KeepsTheCallersTensorsAsTheyWere) {
  const HostExecutor executor(two_layers());
  const Tensor x = Tensor::of<float>({1, 2}, {4, 9});
  for (int i = 0; i < 2; ++i) {
    const auto run = executor.run({{"x", x}});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(test::floats(run->outputs.at("m")), (std::vector<float>{-5}));
  }
  EXPECT_EQ(test::floats(x), (std::vector<float>{4, 9}));
}

TEST(HostExecutor, NamesTheNodeThatFails) {
  ModelBuilder model;
  model.input("x", {-1}).input("i", {-1}, 7);
  model.node("Relu", {"x"}, {"r"});
  model.node("Gather", {"r", "i"}, {"y"});
  model.output("y");
  const auto run = HostExecutor(model.build())
                       .run({{"x", test::noise({3})}, {"i", Tensor::of<int64_t>({1}, {3})}});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("node 'Gather_y' (Gather): Gather's index 3"));
}

TEST(HostExecutor, SkipsOutputsThatNobodyWants) {
  ModelBuilder model;
  model.input("x", {4});
  auto& node = model.node("Split", {"x"}, {"a", "", "b", "c"});
  test::set_int(node, "axis", 0);
  model.output("a").output("c");
  const auto run = HostExecutor(model.build()).run({{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(test::floats(run->outputs.at("a")), (std::vector<float>{1}));
  EXPECT_EQ(test::floats(run->outputs.at("c")), (std::vector<float>{4}));
}

}  // namespace
}  // namespace clvet
