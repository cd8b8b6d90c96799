// Quantised numbers that stay floats on a device.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/steps_domain.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::list;
using test::noise;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr int64_t kFloat = 1, kI32 = 6;

// A network by hand.
class Net {
 public:
  ValueId input(const Tensor& sample) {
    const std::string name = "x" + std::to_string(graph_.inputs.size());
    const ValueId id = graph_.add_value(name);
    graph_.values.back().dtype = sample.dtype();
    graph_.values.back().shape = sample.shape();
    graph_.inputs.push_back(id);
    samples_[name] = sample;
    return id;
  }
  ValueId constant(const Tensor& tensor) {
    return graph_.add_constant("c" + std::to_string(graph_.values.size()), tensor);
  }
  std::vector<ValueId> all(const std::string& op, std::vector<ValueId> inputs, size_t outputs,
                           Attributes attributes = {}) {
    Node node = test::make_node(op, inputs.size(), std::move(attributes), 13, outputs);
    node.name = op + std::to_string(graph_.nodes.size());
    node.inputs = std::move(inputs);
    for (ValueId& id : node.outputs)
      id = graph_.add_value("v" + std::to_string(graph_.values.size()));
    graph_.nodes.push_back(node);
    return node.outputs;
  }
  ValueId one(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return all(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  ValueId quantised(ValueId x, float scale, uint8_t zero) {
    return one("QuantizeLinear",
               {x, constant(Tensor::scalar(scale)), constant(Tensor::scalar(zero))});
  }
  ValueId numbers(ValueId x, float scale, uint8_t zero) {
    return one("DequantizeLinear",
               {x, constant(Tensor::scalar(scale)), constant(Tensor::scalar(zero))});
  }
  void output(ValueId id) { graph_.outputs.push_back(id); }

  // The graph for a device, whose answer must be the one of the graph as it is.
  Graph on_device() const {
    Graph before = graph_;
    EXPECT_TRUE(infer_and_fold(before));
    Graph after = before;
    const Status done = expand_composites(after);
    EXPECT_TRUE(done) << done.error().message;
    const auto want = HostExecutor(before).run(samples_), got = HostExecutor(after).run(samples_);
    EXPECT_TRUE(want && got);
    if (!want || !got) return after;
    for (const auto& [name, tensor] : want->outputs) {
      SCOPED_TRACE(name);
      test::expect_near(got->outputs.at(name), tensor);
    }
    return after;
  }
  std::vector<std::string> ops() const { return test::ops_of(on_device()); }

 private:
  Graph graph_;
  std::map<std::string, Tensor> samples_;
};

const Node& node_of(const Graph& graph, std::string_view op) {
  for (const Node& node : graph.nodes) {
    if (node.op == op) return node;
  }
  ADD_FAILURE() << "no " << op;
  return graph.nodes.front();
}

TEST(CarryLevels, MakesOneNodeOfAPair) {
  Net net;
  const ValueId q = net.quantised(net.input(noise({2, 3, 4})), 0.013f, 100);
  net.output(net.numbers(q, 0.013f, 100));
  const Graph graph = net.on_device();
  EXPECT_THAT(test::ops_of(graph), ElementsAre(kLevels));
  EXPECT_EQ(graph.nodes[0].int_attr("kind", 0), 2);
}

TEST(CarryLevels, ComputesAllThatIsRoundedTo8BitsAtHigh) {
  for (const bool bytes : {true, false}) {
    Net net;
    const ValueId x = net.one("Exp", {net.one("Relu", {net.input(noise({5, 2}))})});
    const ValueId scale = net.constant(Tensor::scalar(0.013f));
    const ValueId zero =
        net.constant(bytes ? Tensor::scalar<uint8_t>(3) : Tensor::scalar<uint16_t>(3));
    const ValueId y =
        net.one("DequantizeLinear", {net.one("QuantizeLinear", {x, scale, zero}), scale, zero});
    net.output(net.one("Sigmoid", {y}));
    const Graph graph = net.on_device();
    EXPECT_TRUE(node_of(graph, kLevels).is_step);
    EXPECT_EQ(node_of(graph, "Exp").is_step, bytes);
    EXPECT_EQ(node_of(graph, "Relu").is_step, bytes);
    EXPECT_FALSE(node_of(graph, "Sigmoid").is_step) << "it is not rounded";
  }
}

TEST(CarryLevels, MakesOneNodeForAllReadersOfALevel) {
  Net net;
  const ValueId q = net.quantised(net.input(noise({2, 3})), 0.013f, 0);
  net.output(net.one("Relu", {net.numbers(q, 0.013f, 0)}));
  net.output(net.one("Exp", {net.numbers(q, 0.013f, 0)}));
  EXPECT_THAT(net.ops(), ElementsAre(kLevels, "Relu", "Exp"));
}

TEST(CarryLevels, RoundsOnceWhatIsOnlyMoved) {
  Net net;
  const auto rounded = [&](ValueId x, float scale) {
    return net.numbers(net.quantised(x, scale, 100), scale, 100);
  };
  ValueId x = rounded(net.input(noise({1, 2, 4, 6})), 0.013f);
  x = rounded(net.one("MaxPool", {x}, {{"kernel_shape", list({2, 2})}}), 0.013f);
  x = rounded(net.one("Transpose", {x}), 0.013f);
  x = rounded(net.one("Relu", {x}), 0.02f);
  net.output(net.one("Exp", {x}));
  EXPECT_THAT(net.ops(), ElementsAre(kLevels, "MaxPool", "Transpose", "Relu", kLevels, "Exp"));
}

TEST(CarryLevels, KeepsLevelsApartThatBecomeOtherNumbers) {
  Net net;
  const ValueId q = net.quantised(net.input(noise({2, 3})), 0.013f, 100);
  net.output(net.numbers(q, 0.013f, 99));
  net.output(net.numbers(q, 0.5f, 100));
  const Graph graph = net.on_device();
  EXPECT_THAT(test::ops_of(graph), Contains("Sub"));
  EXPECT_THAT(test::ops_of(graph), Contains("Mul"));
  for (const Node& node : graph.nodes) EXPECT_NE(node.int_attr("kind", 0), 2);
}

TEST(CarryLevels, GivesIntegersWhereAnOutputOrTheHostWantsThem) {
  Net net;
  const ValueId q = net.quantised(net.input(noise({2, 3})), 0.013f, 100);
  net.output(q);
  net.output(net.numbers(q, 0.013f, 100));
  EXPECT_THAT(net.ops(), ElementsAre(kLevels, kAsIntegers, kLevels));
}

TEST(CarryLevels, MovesLevelsAsFloats) {
  Net net;
  ValueId q = net.quantised(net.input(noise({1, 2, 4, 6})), 0.013f, 100);
  q = net.one("MaxPool", {q}, {{"kernel_shape", list({2, 2})}});
  q = net.one("Transpose", {q}, {{"perm", list({0, 2, 3, 1})}});
  const ValueId other =
      net.constant(Tensor::of<uint8_t>({1, 1, 5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 255}));
  q = net.one("Concat", {q, other}, {{"axis", int64_t{1}}});
  net.output(net.numbers(q, 0.013f, 100));
  const auto ops = net.ops();
  EXPECT_THAT(ops, Not(Contains(kAsIntegers)));
  EXPECT_THAT(ops, Not(Contains(kAsFloats)));
  EXPECT_EQ(ops.front(), kLevels);
}

TEST(CarryLevels, LeavesTheHostWhatItAloneMovesOrComputes) {
  Net net;
  const ValueId q = net.quantised(net.input(noise({2, 3})), 0.013f, 100);
  net.output(net.one("ArgMax", {q}));
  const ValueId given = net.input(Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 255}));
  net.output(net.numbers(net.one("Transpose", {given}), 0.5f, 2));
  const auto ops = net.ops();
  EXPECT_THAT(ops, Contains(kAsIntegers));
  EXPECT_THAT(ops, Contains(kAsFloats)) << "what the caller gives as integers";
}

// What onnxruntime's quantize_dynamic writes.
struct Dynamic {
  Net net;
  ValueId sums, scale;
  Dynamic() {
    const auto q = net.all("DynamicQuantizeLinear", {net.input(noise({2, 5, 4}))}, 3);
    const ValueId w =
        net.constant(Tensor::of<int8_t>({4, 3}, {1, -2, 127, -128, 5, 6, 7, 8, 99, -100, 11, 12}));
    sums = net.one("MatMulInteger", {q[0], w, q[2], net.constant(Tensor::scalar<int8_t>(3))});
    scale = net.one("Mul", {q[1], net.constant(Tensor::scalar(0.02f))});
  }
  ValueId scaled(ValueId from) {
    return net.one("Mul", {net.one("Cast", {from}, {{"to", kFloat}}), scale});
  }
};

TEST(CarrySums, ComputesWhatIsQuantisedAsItRunsInFloats) {
  Dynamic dynamic;
  dynamic.net.output(dynamic.scaled(dynamic.sums));
  const Graph graph = dynamic.net.on_device();
  for (const std::string& op : test::ops_of(graph)) {
    EXPECT_NE(op, kAsIntegers);
    EXPECT_NE(op, kAsFloats);
    EXPECT_NE(op, "MatMulInteger");
  }
  EXPECT_EQ(node_of(graph, kLevels).int_attr("kind", 0), 1) << "less the zero point at once";
  for (const Node& node : graph.nodes)
    EXPECT_TRUE(node.is_step) << node.op << ": sums are beyond a half's range, scales below it";
}

TEST(CarrySums, ComputesAllThatIsQuantisedAsItRunsAtHigh) {
  Net net;
  const ValueId x = net.one("Relu", {net.one("Exp", {net.input(noise({5, 2}))})});
  const auto q = net.all("DynamicQuantizeLinear", {x}, 3);
  const ValueId right = net.constant(Tensor::of<int8_t>({2, 1}, {3, 9}));
  const ValueId sums = net.one("MatMulInteger", {q[0], right, q[2]});
  const ValueId y = net.one("Mul", {net.one("Cast", {sums}, {{"to", kFloat}}), q[1]});
  net.output(net.one("Sigmoid", {net.one("Abs", {y})}));
  const Graph graph = net.on_device();
  EXPECT_TRUE(node_of(graph, "Exp").is_step);
  EXPECT_TRUE(node_of(graph, "Relu").is_step);
  EXPECT_FALSE(node_of(graph, "Sigmoid").is_step) << "nothing rounds it";
}

TEST(CarrySums, SharesTheLevelsThatSeveralProductsRead) {
  Net net;
  const auto q = net.all("DynamicQuantizeLinear", {net.input(noise({5, 2}))}, 3);
  for (const int8_t w : {int8_t{3}, int8_t{-4}}) {
    const ValueId right = net.constant(Tensor::of<int8_t>({2, 1}, {w, 9}));
    const ValueId sums = net.one("MatMulInteger", {q[0], right, q[2]});
    net.output(net.one("Mul", {net.one("Cast", {sums}, {{"to", kFloat}}), q[1]}));
  }
  const auto ops = net.ops();
  EXPECT_EQ(std::ranges::count(ops, std::string(kLevels)), 1);
}

TEST(CarrySums, AddsABiasThatIsDividedByTheScaleInFloats) {
  Dynamic dynamic;
  Net& net = dynamic.net;
  const ValueId bias = net.constant(Tensor::of<float>({3}, {0.5f, -0.25f, 8}));
  const ValueId whole = net.one("Floor", {net.one("Div", {bias, dynamic.scale})});
  const ValueId integers = net.one("Cast", {whole}, {{"to", kI32}});
  const ValueId row =
      net.one("Reshape", {integers, net.constant(Tensor::of<int64_t>({3}, {1, 1, 3}))});
  net.output(dynamic.scaled(net.one("Add", {dynamic.sums, row})));
  const auto ops = net.ops();
  EXPECT_THAT(ops, Not(Contains("Cast")));
  EXPECT_THAT(ops, Not(Contains(kAsFloats)));
}

TEST(CarrySums, LeavesSumsThatAreWantedAsIntegers) {
  Dynamic dynamic;
  dynamic.net.output(dynamic.sums);
  dynamic.net.output(dynamic.scaled(dynamic.sums));
  EXPECT_THAT(dynamic.net.ops(), Contains("MatMulInteger"));
}

TEST(CarrySums, LeavesTheRangeOfIntegersThatJoinNoSum) {
  Dynamic dynamic;
  Net& net = dynamic.net;
  net.output(dynamic.scaled(dynamic.sums));
  const ValueId large = net.input(Tensor::of<float>({2}, {3e9f, -5e9f}));
  const ValueId whole = net.one("Cast", {net.one("Floor", {large})}, {{"to", kI32}});
  net.output(net.one("Cast", {whole}, {{"to", kFloat}}));
  EXPECT_THAT(net.ops(), Contains("Cast"));
}

TEST(CarrySums, PadsAConvolutionWithItsZeroPoint) {
  Net net;
  const auto q = net.all("DynamicQuantizeLinear", {net.input(noise({1, 2, 4, 4}))}, 3);
  const ValueId w = net.constant(Tensor::of<uint8_t>({1, 2, 2, 2}, {1, 255, 3, 4, 130, 6, 7, 128}));
  const ValueId sums =
      net.one("ConvInteger", {q[0], w, q[2], net.constant(Tensor::scalar<uint8_t>(128))},
              {{"pads", list({1, 0, 0, 1})}});
  net.output(net.one("Mul", {net.one("Cast", {sums}, {{"to", kFloat}}), q[1]}));
  EXPECT_THAT(net.ops(), Contains("Conv"));
}

}  // namespace
}  // namespace clvet
