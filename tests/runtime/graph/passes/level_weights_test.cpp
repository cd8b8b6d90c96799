// Which constant weights of a network are levels of 8 bits.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class T>
Tensor levels(const Shape& shape) {
  std::vector<T> values(static_cast<size_t>(elements_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 89 % 255);
  return Tensor::from(shape, std::span<const T>(values));
}

// A network of one input and what the test adds.
class Net {
 public:
  ValueId input(const Shape& shape, DType dtype = DType::kF32) {
    const ValueId id = graph_.add_value("x");
    graph_.values.back().dtype = dtype;
    graph_.values.back().shape = shape;
    graph_.inputs.push_back(id);
    return id;
  }
  ValueId constant(Tensor tensor) {
    return graph_.add_constant(graph_.unique_name("c"), std::move(tensor));
  }
  ValueId one(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    Node node = test::make_node(op, inputs.size(), std::move(attributes));
    node.name = graph_.unique_name(op);
    node.inputs = std::move(inputs);
    node.outputs = {graph_.add_value(graph_.unique_name("v"))};
    graph_.nodes.push_back(node);
    return node.outputs[0];
  }
  // Names of the nodes whose weights are levels, `out` being the output.
  std::vector<std::string> found(ValueId out) {
    graph_.outputs = {out};
    EXPECT_TRUE(infer_and_fold(graph_));
    EXPECT_TRUE(expand_composites(graph_));
    std::vector<std::string> ops;
    for (const Node& node : graph_.nodes) {
      if (node.has_level_weights) ops.push_back(node.op);
    }
    return ops;
  }

 private:
  Graph graph_;
};

TEST(LevelWeightsOfANetwork, AreThoseThatDequantizeLinearMade) {
  for (const bool transposed : {false, true}) {
    Net net;
    const ValueId scale = net.constant(Tensor::scalar(0.02F));
    const ValueId zero = net.constant(Tensor::scalar<uint8_t>(100));
    const ValueId w = net.constant(levels<uint8_t>(transposed ? Shape{4, 6} : Shape{6, 4}));
    ValueId numbers = net.one("DequantizeLinear", {w, scale, zero});
    if (transposed) numbers = net.one("Transpose", {numbers});
    const ValueId out = net.one("MatMul", {net.input({3, 6}), numbers});
    EXPECT_THAT(net.found(out), ElementsAre("MatMul"));
  }
}

TEST(LevelWeightsOfANetwork, AreThoseOfSumsOfIntegers) {
  Net net;
  const ValueId x = net.input({1, 3, 5, 5}, DType::kU8);
  const ValueId zero = net.constant(Tensor::scalar<uint8_t>(7));
  const ValueId w = net.constant(levels<uint8_t>({4, 3, 3, 3}));
  const ValueId sums = net.one("ConvInteger", {x, w, zero, zero});
  EXPECT_THAT(net.found(net.one("Cast", {sums}, {{"to", int64_t{1}}})), ElementsAre("Conv"));
}

TEST(LevelWeightsOfANetwork, AreThoseOfQLinearOperators) {
  Net net;
  const ValueId scale = net.constant(Tensor::scalar(0.03F));
  const ValueId zero = net.constant(Tensor::scalar<uint8_t>(120));
  const ValueId x = net.one("QuantizeLinear", {net.input({2, 6}), scale, zero});
  const ValueId w = net.constant(levels<int8_t>({6, 4}));
  const ValueId even = net.constant(Tensor::scalar<int8_t>(0));
  const ValueId y = net.one("QLinearMatMul", {x, scale, zero, w, scale, even, scale, zero});
  EXPECT_THAT(net.found(net.one("DequantizeLinear", {y, scale, zero})), ElementsAre("MatMul"));
}

TEST(LevelWeightsOfANetwork, AreNotThoseThatLieBetweenLevels) {
  Net net;
  const ValueId scale = net.constant(Tensor::scalar(0.02F));
  const ValueId numbers =
      net.one("DequantizeLinear", {net.constant(levels<int8_t>({6, 4})), scale});
  const ValueId off = net.one("Add", {numbers, net.constant(test::noise({6, 4}))});
  EXPECT_THAT(net.found(net.one("MatMul", {net.input({3, 6}), off})), IsEmpty());
}

TEST(LevelWeightsOfANetwork, AreNotLookedForWhereNothingIsQuantised) {
  Net net;
  std::vector<float> whole(24, 3);
  const ValueId w = net.constant(Tensor::from({6, 4}, std::span<const float>(whole)));
  EXPECT_THAT(net.found(net.one("MatMul", {net.input({3, 6}), w})), IsEmpty());
}

}  // namespace
}  // namespace clvet
