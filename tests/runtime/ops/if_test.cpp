// If: the branch that its condition names, and no other.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::i64s;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::HasSubstr;

using Branch = std::shared_ptr<const Graph>;

Branch constants(const std::vector<Tensor>& tensors) {
  auto graph = std::make_shared<Graph>();
  for (const Tensor& tensor : tensors) {
    graph->outputs.push_back(graph->add_constant(graph->unique_name("c"), tensor));
  }
  return graph;
}

// op(captured input 1 of the If).
Branch captured(const char* op) {
  auto graph = std::make_shared<Graph>();
  Node node = make_node(op, 1);
  node.inputs = {graph->add_value("x")};
  node.outputs = {graph->add_value("y")};
  graph->inputs = node.inputs;
  graph->outputs = node.outputs;
  graph->captures = {1};
  graph->nodes.push_back(std::move(node));
  return graph;
}

Node if_node(Branch then, Branch otherwise, size_t inputs = 1, size_t outputs = 1) {
  return make_node("If", inputs,
                   {{"then_branch", std::move(then)}, {"else_branch", std::move(otherwise)}}, 16,
                   outputs);
}

TEST(If, TakesTheTypesAndShapesOfTheBranchItRuns) {
  const Node node = if_node(constants({noise({2, 3})}), constants({i64s({4})}));
  EXPECT_EQ(test::inferred(node, {Tensor::scalar(true)}), "f32[2,3]");
  EXPECT_EQ(test::inferred(node, {Tensor::scalar(false)}), "i64[1]");
  EXPECT_EQ(test::run_one(node, {Tensor::of<bool>({1, 1}, {false})}).to_i64(),
            (std::vector<int64_t>{4}));
}

TEST(If, GivesOutEveryOutputOfItsBranch) {
  const Node node =
      if_node(constants({i64s({1}), i64s({2})}), constants({i64s({3}), i64s({4})}), 1, 2);
  const auto outputs = test::run_op(node, {Tensor::scalar(false)});
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[0].to_i64(), (std::vector<int64_t>{3}));
  EXPECT_EQ((*outputs)[1].to_i64(), (std::vector<int64_t>{4}));
}

TEST(If, RunsWithoutWhatTheOtherBranchWouldRefuse) {
  const Node node = if_node(captured("Neg"), captured("Relu"), 2);
  EXPECT_EQ(test::run_one(node, {Tensor::scalar(true), i64s({5})}).to_i64(),
            (std::vector<int64_t>{-5}));
  EXPECT_THAT(refusal(node, {Tensor::scalar(false), i64s({5})}),
              HasSubstr("Relu does not support the type i64"));
}

TEST(If, WaitsForAConditionAndForCapturedValues) {
  const Node node = if_node(captured("Neg"), captured("Neg"), 2);
  const std::vector<Tensor> inputs = {Tensor::scalar(true), i64s({5})};
  for (const std::vector<bool>& known : {std::vector<bool>{false, true}, {true, false}}) {
    const auto types = infer_node(test::make_call(node, inputs, known));
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().code, ErrorCode::kUnavailable);
  }
}

TEST(If, RefusesConditionsAndBranchesThatDoNotFit) {
  const Branch one = constants({i64s({1})});
  EXPECT_THAT(refusal(if_node(one, one), {Tensor::of<bool>({2}, {true, true})}),
              HasSubstr("single truth value, not bool[2]"));
  EXPECT_THAT(refusal(if_node(one, one), {Tensor::of<bool>({0}, {})}),
              HasSubstr("single truth value, not bool[0]"));
  EXPECT_THAT(refusal(if_node(one, one), {i64s({1})}), HasSubstr("does not support the type i64"));
  EXPECT_THAT(refusal(if_node(one, one, 1, 2), {Tensor::scalar(true)}),
              HasSubstr("graph then_branch has 1 outputs, but needs 2"));
  Node half = if_node(one, one);
  half.attributes.erase("else_branch");
  EXPECT_THAT(refusal(half, {Tensor::scalar(false)}), HasSubstr("needs the attribute else_branch"));
}

TEST(If, RefusesABranchWithInputsOfItsOwn) {
  auto branch = std::make_shared<Graph>();
  branch->inputs = {branch->add_value("own")};
  branch->outputs = branch->inputs;
  const auto types =
      infer_node(test::make_call(if_node(branch, branch), {Tensor::scalar(true)}, {false}));
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().message,
            "If's graph then_branch has 1 inputs of its own, but the node gives it 0");
}

}  // namespace
}  // namespace clvet
