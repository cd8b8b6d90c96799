#include "runtime/precision/file_nodes.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/infer/infer.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/precision/engine_advice.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using testing::ElementsAre;

// Relu(x * w + b), the constants computed, then a Softmax; the Relu is also an output.
test::ModelBuilder model() {
  test::ModelBuilder model;
  model.input("x", {2, 4}).constant("w0", {4, 4}, std::vector<float>(16, 0.5f));
  model.constant("b", {4}, {1, 2, 3, 4}).constant("half", {1}, {0.5f});
  model.node("Mul", {"w0", "half"}, {"w"}).set_name("scale weights");
  model.node("MatMul", {"x", "w"}, {"m"}).set_name("matmul");
  model.node("Add", {"m", "b"}, {"a"}).set_name("bias");
  model.node("Relu", {"a"}, {"r"}).set_name("relu");
  model.node("Softmax", {"r"}, {"y"}).set_name("softmax");
  model.output("y");
  return model;
}

std::vector<std::string> names(const std::vector<FileNode>& nodes) {
  std::vector<std::string> all;
  for (const FileNode& node : nodes) all.push_back(node.name);
  return all;
}

std::vector<std::string> all_of(const Graph& graph) {
  std::vector<std::string> all;
  for (const Node& node : graph.nodes) all.push_back(node.name);
  return all;
}

TEST(FileNodes, AreTheNodesThemselvesWhereNothingWasFused) {
  const Graph file = model().build();
  Graph folded = file;
  ASSERT_TRUE(infer_and_fold(folded));
  const std::vector<std::string> wanted = {"bias"};
  const auto found = file_nodes_of(file, folded, wanted);
  ASSERT_THAT(names(found), ElementsAre("bias"));
  EXPECT_EQ(found[0].op, "Add");
  EXPECT_THAT(found[0].reads, ElementsAre("m"));
  EXPECT_THAT(found[0].writes, ElementsAre("a"));
}

TEST(FileNodes, NameWhatAFusedNodeHolds) {
  const Graph file = model().build();
  Graph fused = file;
  ASSERT_TRUE(optimise(fused));
  ASSERT_EQ(fused.nodes.size(), 2u) << "MatMul with bias and Relu, Softmax";
  const std::vector<std::string> first = {fused.nodes[0].name};
  EXPECT_THAT(names(file_nodes_of(file, fused, first)), ElementsAre("matmul", "bias", "relu"));
  EXPECT_THAT(names(file_nodes_of(file, fused, all_of(fused))),
              ElementsAre("matmul", "bias", "relu", "softmax"));
}

TEST(FileNodes, LeaveOutWhatComputesConstants) {
  const Graph file = model().build();
  Graph folded = file;
  ASSERT_TRUE(infer_and_fold(folded));
  const auto found = file_nodes_of(file, folded, all_of(folded));
  EXPECT_THAT(names(found), ElementsAre("matmul", "bias", "relu", "softmax"));
  EXPECT_THAT(found[0].reads, ElementsAre("x"));
}

TEST(FileNodes, AreNoneOfNamesThatNoNodeHas) {
  const Graph file = model().build();
  const std::vector<std::string> other = {"other", ""};
  EXPECT_TRUE(file_nodes_of(file, file, other).empty());
}

}  // namespace
}  // namespace clvet
