#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

// Folds, then checks that the pass alone and all passes together keep the model's result.
Graph pass(const ModelBuilder& model, void (*run)(Graph&), const Tensor& x,
           double relative = 2e-6) {
  const Graph before = model.build();
  Graph one = before, all = before;
  EXPECT_TRUE(infer_and_fold(one));
  run(one);
  EXPECT_TRUE(optimise(all));
  const auto want = run_graph(before, {{"x", x}});
  EXPECT_TRUE(want) << want.error().message;
  for (const Graph* graph : {&one, &all}) {
    const auto got = run_graph(*graph, {{"x", x}});
    EXPECT_TRUE(got) << got.error().message;
    if (got && want) test::expect_near((*got)[0], (*want)[0], relative);
    EXPECT_EQ(graph->values[graph->outputs[0]].name, before.values[before.outputs[0]].name);
  }
  return one;
}

ModelBuilder conv_then(bool transposed = false, int group = 1) {
  ModelBuilder model;
  model.input("x", {-1, 4, 6, 5});
  const Tensor w =
      test::noise(transposed ? Shape{4, 6 / group, 3, 3} : Shape{6, 4 / group, 3, 3}, 7);
  model.constant("w", w.shape(), test::floats(w));
  auto& conv = model.node(transposed ? "ConvTranspose" : "Conv", {"x", "w"}, {"c"});
  test::set_ints(conv, "pads", {1, 1, 1, 1});
  test::set_int(conv, "group", group);
  return model;
}

void add_batch_norm(ModelBuilder& model, const std::string& from, const std::string& to) {
  model.constant("gamma", {6}, {1, 2, -3, 0.5f, 1, 1}).constant("beta", {6}, {0, 1, 2, 3, 4, 5});
  model.constant("mean", {6}, {1, 0, -1, 1000, 0, 0});
  model.constant("variance", {6}, {1, 2, 3, 9.79e7f, 5, 1e-6f});
  test::set_float(
      model.node("BatchNormalization", {from, "gamma", "beta", "mean", "variance"}, {to}),
      "epsilon", 1e-5f);
}

TEST(FoldChannelAffine, PutsBatchNormalizationIntoTheConvBefore) {
  for (const bool transposed : {false, true}) {
    for (const int group : {1, 2}) {
      ModelBuilder model = conv_then(transposed, group);
      add_batch_norm(model, "c", "y");
      model.output("y");
      const Graph graph = pass(model, fold_channel_affine, test::noise({2, 4, 6, 5}), 1e-5);
      EXPECT_THAT(ops(graph), ElementsAre(transposed ? "ConvTranspose" : "Conv"));
    }
  }
}

TEST(FoldChannelAffine, FoldsAWholeChainOfConstants) {
  ModelBuilder model = conv_then();
  add_batch_norm(model, "c", "b");
  model.constant("s", {1}, {3}).constant("t", {1, 6, 1, 1}, {1, 2, 3, 4, 5, 6});
  model.constant("d", {6, 1, 1}, {1, 2, 3, 4, 5, 6});
  model.node("Mul", {"s", "b"}, {"m"});
  model.node("Add", {"m", "t"}, {"a"});
  model.node("Sub", {"t", "a"}, {"u"});
  model.node("Div", {"u", "d"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, fold_channel_affine, test::noise({1, 4, 6, 5}), 1e-5)),
              ElementsAre("Conv"));
}

TEST(FoldChannelAffine, LeavesOtherShapesAndSharedValuesAlone) {
  ModelBuilder model = conv_then();
  model.constant("row", {5}, {1, 2, 3, 4, 5});
  model.node("Mul", {"c", "row"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, fold_channel_affine, test::noise({1, 4, 6, 5}))),
              ElementsAre("Conv", "Mul"));
  ModelBuilder shared = conv_then();
  add_batch_norm(shared, "c", "b");
  shared.node("Add", {"b", "c"}, {"y"});
  shared.output("y");
  EXPECT_THAT(ops(pass(shared, fold_channel_affine, test::noise({1, 4, 6, 5}), 1e-5)),
              ElementsAre("Conv", "BatchNormalization", "Add"));
}

// x -> Relu -> (x - 2) / 4 * 3 + 1 -> Conv
ModelBuilder map_then_conv(int64_t pad, int group = 1) {
  ModelBuilder model;
  model.input("x", {-1, 4, 6, 5});
  model.constant("two", {}, {2}).constant("four", {1}, {4}).constant("three", {1}, {3});
  model.constant("one", {1}, {1});
  model.node("Relu", {"x"}, {"r"});
  model.node("Sub", {"r", "two"}, {"s"});
  model.node("Div", {"s", "four"}, {"d"});
  model.node("Mul", {"three", "d"}, {"m"});
  model.node("Add", {"m", "one"}, {"a"});
  const Tensor w = test::noise({6, 4 / group, 3, 3}, 7);
  model.constant("w", w.shape(), test::floats(w)).constant("b", {6}, {1, 2, 3, 4, 5, 6});
  auto& conv = model.node("Conv", {"a", "w", "b"}, {"y"});
  test::set_ints(conv, "pads", {pad, pad, pad, pad});
  test::set_int(conv, "group", group);
  return model;
}

TEST(FoldInputAffine, PutsAWholeMapIntoAConvWithoutPadding) {
  for (const int group : {1, 2}) {
    ModelBuilder model = map_then_conv(0, group);
    model.output("y");
    const Graph graph = pass(model, fold_input_affine, test::noise({2, 4, 6, 5}), 1e-5);
    EXPECT_THAT(ops(graph), ElementsAre("Relu", "Conv"));
  }
}

TEST(FoldInputAffine, LeavesAShiftBeforeAPaddedConv) {
  ModelBuilder model = map_then_conv(1);
  model.output("y");
  EXPECT_THAT(ops(pass(model, fold_input_affine, test::noise({1, 4, 6, 5}), 1e-5)),
              ElementsAre("Relu", "Sub", "Div", "Mul", "Add", "Conv"));
  ModelBuilder scaled;
  scaled.input("x", {1, 2, 3, 3}).constant("half", {}, {0.5f}).constant("w", {1, 2, 1, 1}, {3, 5});
  scaled.node("Relu", {"x"}, {"r"});
  scaled.node("Mul", {"r", "half"}, {"m"});
  test::set_ints(scaled.node("Conv", {"m", "w"}, {"y"}), "pads", {1, 1, 1, 1});
  scaled.output("y");
  EXPECT_THAT(ops(pass(scaled, fold_input_affine, test::noise({1, 2, 3, 3}))),
              ElementsAre("Relu", "Conv"))
      << "a scale alone keeps zero";
}

TEST(FoldInputAffine, LeavesAValueThatSomebodyElseReads) {
  ModelBuilder model = map_then_conv(0);
  model.node("Relu", {"m"}, {"z"});
  model.node("ReduceSum", {"z"}, {"sum"});
  model.node("Add", {"y", "sum"}, {"out"});
  model.output("out");
  const Graph graph = pass(model, fold_input_affine, test::noise({1, 4, 6, 5}), 1e-5);
  EXPECT_THAT(ops(graph),
              ElementsAre("Relu", "Sub", "Div", "Mul", "Conv", "Relu", "ReduceSum", "Add"));
}

struct Gate {
  const char* name;
  const char* becomes;
  void (*build)(ModelBuilder& model);
};

void ramp(ModelBuilder& model) {
  model.constant("three", {}, {3}).constant("zero", {}, {0}).constant("six", {}, {6});
  model.node("Add", {"x", "three"}, {"a"});
  model.node("Clip", {"a", "zero", "six"}, {"c"});
}

const Gate kGates[] = {
    {"clip_mul_div", "HardSwish",
     [](ModelBuilder& m) {
       ramp(m);
       m.node("Mul", {"x", "c"}, {"p"});
       m.node("Div", {"p", "six"}, {"y"});
     }},
    {"clip_mul_reversed_then_sixth", "HardSwish",
     [](ModelBuilder& m) {
       ramp(m);
       m.constant("sixth", {1}, {1.f / 6});
       m.node("Mul", {"c", "x"}, {"p"});
       m.node("Mul", {"sixth", "p"}, {"y"});
     }},
    {"clip_div_mul", "HardSwish",
     [](ModelBuilder& m) {
       ramp(m);
       m.node("Div", {"c", "six"}, {"d"});
       m.node("Mul", {"d", "x"}, {"y"});
     }},
    {"clip_div", "HardSigmoid",
     [](ModelBuilder& m) {
       ramp(m);
       m.node("Div", {"c", "six"}, {"y"});
     }},
    {"hard_sigmoid_mul", "HardSwish",
     [](ModelBuilder& m) {
       test::set_float(m.node("HardSigmoid", {"x"}, {"h"}), "alpha", 1.f / 6);
       m.node("Mul", {"x", "h"}, {"y"});
     }},
    {"sigmoid_mul", "Swish",
     [](ModelBuilder& m) {
       m.node("Sigmoid", {"x"}, {"h"});
       m.node("Mul", {"h", "x"}, {"y"});
     }},
};

class Gates : public ::testing::TestWithParam<Gate> {};

TEST_P(Gates, BecomeOneNode) {
  ModelBuilder model;
  model.input("x", {-1, 7});
  GetParam().build(model);
  model.output("y");
  Tensor x = test::noise({3, 7});
  for (int64_t i = 0; i < x.elements(); ++i) x.data<float>()[i] *= 6;
  EXPECT_THAT(ops(pass(model, recognise_gates, x)), ElementsAre(GetParam().becomes));
}

INSTANTIATE_TEST_SUITE_P(All, Gates, ::testing::ValuesIn(kGates),
                         [](const auto& info) { return info.param.name; });

TEST(RecogniseGates, NeedsTheSameFactorAndTheSameOperand) {
  ModelBuilder model;
  model.input("x", {2}).input("z", {2});
  ramp(model);
  model.constant("five", {}, {5});
  model.node("Mul", {"x", "c"}, {"p"});
  model.node("Div", {"p", "five"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  recognise_gates(graph);
  EXPECT_THAT(ops(graph), ElementsAre("Add", "Clip", "Mul", "Div"));
}

TEST(FuseActivations, PutsEachActivationIntoTheConvBefore) {
  for (const char* op :
       {"Relu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "LeakyRelu", "Swish"}) {
    ModelBuilder model = conv_then();
    model.set_opset(24);
    model.node(op, {"c"}, {"y"});
    model.output("y");
    const Graph graph = pass(model, fuse_activations, test::noise({1, 4, 6, 5}));
    EXPECT_THAT(ops(graph), ElementsAre("Conv")) << op;
    EXPECT_NE(graph.nodes[0].activation.act, Act::kNone);
  }
}

TEST(FuseActivations, TakesClipWithOneBound) {
  ModelBuilder model = conv_then();
  model.constant("half", {}, {0.5f});
  model.node("Clip", {"c", "", "half"}, {"y"});
  model.output("y");
  const Graph graph = pass(model, fuse_activations, test::noise({1, 4, 6, 5}));
  EXPECT_EQ(graph.nodes.at(0).activation.act, Act::kClip);
  EXPECT_EQ(graph.nodes.at(0).activation.hi, 0.5);
}

TEST(FuseActivations, PutsAnAffineMapIntoTheMatMulBeforeAndGoesOnBehindIt) {
  ModelBuilder model;
  model.input("x", {-1, 4}).constant("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  model.constant("cap", {}, {2});
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Div", {"m", "cap"}, {"d"});
  model.node("Tanh", {"d"}, {"t"});
  model.node("Mul", {"t", "cap"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, fuse_activations, test::noise({3, 4}))),
              ElementsAre("MatMul", "Tanh", "Mul"));
}

TEST(FuseActivations, LeavesAValueThatSomebodyElseReads) {
  ModelBuilder model = conv_then();
  model.node("Relu", {"c"}, {"r"});
  model.node("Add", {"r", "c"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, fuse_activations, test::noise({1, 4, 6, 5}))),
              ElementsAre("Conv", "Relu", "Add"));
}

TEST(FuseBias, GivesMatMulARow) {
  ModelBuilder model;
  model.input("x", {-1, 3, 4}).constant("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  model.constant("b", {2}, {10, 20});
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Add", {"b", "m"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, fuse_bias, test::noise({2, 3, 4}))), ElementsAre("MatMul"));
}

TEST(RemoveIdentities, KeepsTheNamesOfOutputs) {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Identity", {"x"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  model.node("Dropout", {"b"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, remove_identities, test::noise({2}))), ElementsAre("Relu"));
}

TEST(RemoveIdentities, KeepsAnIdentityFromInputToOutput) {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Identity", {"x"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops(pass(model, remove_identities, test::noise({2}))), ElementsAre("Identity"));
}

TEST(Optimise, RemovesWhatNoOutputNeeds) {
  ModelBuilder model;
  model.input("x", {2}).constant("unused", {1}, {1});
  model.node("Relu", {"x"}, {"y"});
  model.node("Exp", {"x"}, {"dead"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(optimise(graph));
  EXPECT_THAT(ops(graph), ElementsAre("Relu"));
  EXPECT_EQ(graph.values.size(), 2u);
}

}  // namespace
}  // namespace clvet
