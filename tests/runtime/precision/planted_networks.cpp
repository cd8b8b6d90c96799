#include "tests/runtime/precision/planted_networks.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/model_builder.h"

namespace clvet::test {
namespace {

constexpr int64_t kRows = 4;

// A chain of rows of `width` values, each layer of which keeps them about 1 in size.
class Chain {
 public:
  explicit Chain(uint32_t seed) : random_(seed), width_(8 * pick(2, 6)) {
    model_.input("x", {kRows, width_});
  }

  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  int64_t width() const { return width_; }

  std::string node(const std::string& op, const std::vector<std::string>& inputs) {
    const std::string out = op + "_" + std::to_string(++count_);
    model_.node(op, inputs, {out}).set_name("node_" + out);
    return out;
  }
  std::string constant(const Shape& shape, const std::vector<float>& values) {
    const std::string name = "c_" + std::to_string(++count_);
    model_.constant(name, shape, values);
    return name;
  }
  std::string scalar(float value) { return constant({1}, {value}); }
  std::vector<float> normal(int64_t count, double deviation) {
    std::normal_distribution<float> values(0, static_cast<float>(deviation));
    std::vector<float> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(values(random_));
    return all;
  }
  onnx::NodeProto& last() { return *model_.graph().mutable_node(model_.graph().node_size() - 1); }

  void layer() {
    switch (pick(0, 3)) {
      case 0: {
        const auto w = normal(width_ * width_, std::sqrt(1.0 / static_cast<double>(width_)));
        at_ = node("MatMul", {at_, constant({width_, width_}, w)});
        return;
      }
      case 1:
        at_ = node("Add", {at_, constant({width_}, normal(width_, 0.3))});
        return;
      case 2:
        at_ = node("Mul", {node("Tanh", {at_}), scalar(1.5f)});
        return;
      default:
        at_ = node("Add", {at_, node("Mul", {node("Sigmoid", {at_}), scalar(0.5f)})});
    }
  }

  // The node at fault.
  std::string plant(Planted planted);

  PlantedNetwork finish(const std::string& origin) {
    model_.output(at_);
    inputs_["x"] = Tensor::from<float>({kRows, width_}, normal(kRows * width_, 1));
    return {model_.build(), inputs_, origin.empty() ? "" : "node_" + origin};
  }

 private:
  std::string sum_over_row(const std::string& of) {
    const std::string axes = "axes_" + std::to_string(++count_);
    model_.constant_i64(axes, {-1});
    return node("ReduceSum", {of, axes});
  }
  std::string overflow();
  std::string constant_overflow();
  std::string underflow();
  std::string cancellation();
  std::string long_sum();
  std::string integer();
  std::string softmax();

  ModelBuilder model_;
  std::map<std::string, Tensor> inputs_;
  std::mt19937 random_;
  int64_t width_;
  int count_ = 0;
  std::string at_ = "x";
};

// x / sqrt(mean x^2), with squares beyond half.
std::string Chain::overflow() {
  const std::string large = node("Mul", {at_, scalar(static_cast<float>(pick(2000, 5000)))});
  const std::string squares = node("Mul", {large, large});
  const std::string mean =
      node("Mul", {sum_over_row(squares), scalar(1.f / static_cast<float>(width_))});
  at_ = node("Div", {large, node("Sqrt", {mean})});
  return squares;
}

// A normalisation whose variances half cannot hold.
std::string Chain::constant_overflow() {
  const std::string large = node("Mul", {at_, scalar(3000)});
  const auto ones = std::vector<float>(static_cast<size_t>(width_), 1.f);
  const auto variance =
      std::vector<float>(static_cast<size_t>(width_), static_cast<float>(pick(100000, 9000000)));
  const Shape shape{width_};
  at_ = node("BatchNormalization",
             {large, constant(shape, ones), constant(shape, normal(width_, 0.1)),
              constant(shape, normal(width_, 1)), constant(shape, variance)});
  return at_;
}

// Small values that are made large again.
std::string Chain::underflow() {
  const auto small = static_cast<float>(std::ldexp(1, -static_cast<int>(pick(12, 14))));
  const std::string first = node("Mul", {at_, scalar(small)});
  const std::string second = node("Mul", {first, scalar(small)});
  at_ = node("Mul", {node("Mul", {second, scalar(1 / small)}), scalar(1 / small)});
  return second;
}

// (x + c) - c.
std::string Chain::cancellation() {
  const std::string c = scalar(static_cast<float>(4 * pick(125, 1000)));
  at_ = node("Sub", {node("Add", {at_, c}), c});
  return at_;
}

// A mean that adds up first.
std::string Chain::long_sum() {
  const int64_t count = pick(3000, 6000);
  const std::vector<float> row(static_cast<size_t>(width_ * count), 0.2f);
  const std::string shifted = node("Add", {node("Sigmoid", {at_}), scalar(30)});
  const std::string wide = node("MatMul", {shifted, constant({width_, count}, row)});
  const std::string sum = sum_over_row(wide);
  const std::string mean = node("Div", {sum, scalar(static_cast<float>(count))});
  at_ = node("Mul", {at_, node("Div", {mean, scalar(static_cast<float>(6 * width_))})});
  return sum;
}

// Distances of positions beyond 2048.
std::string Chain::integer() {
  const int64_t centre = 4 * pick(1100, 2000);
  Tensor positions = Tensor::create(DType::kI64, {width_}).value();
  for (int64_t i = 0; i < width_; ++i) positions.data<int64_t>()[i] = centre + pick(-9, 9);
  inputs_["p"] = positions;
  model_.input("p", {width_}, 7);
  const std::string numbers = node("Cast", {"p"});
  set_int(last(), "to", 1);
  const std::string distances = node("Sub", {numbers, scalar(static_cast<float>(centre))});
  at_ = node("Add", {at_, node("Mul", {distances, scalar(0.2f)})});
  return numbers;
}

std::string Chain::softmax() {
  const std::string offset = scalar(static_cast<float>(2 * pick(500, 900)));
  const std::string logits = node("Add", {node("Mul", {at_, scalar(2)}), offset});
  const std::string shares = node("Softmax", {logits});
  at_ = node("Mul", {shares, scalar(static_cast<float>(width_))});
  return shares;
}

std::string Chain::plant(Planted planted) {
  switch (planted) {
    case Planted::kOverflow:
      return overflow();
    case Planted::kConstant:
      return constant_overflow();
    case Planted::kUnderflow:
      return underflow();
    case Planted::kCancellation:
      return cancellation();
    case Planted::kLongSum:
      return long_sum();
    case Planted::kInteger:
      return integer();
    case Planted::kSoftmax:
      return softmax();
    case Planted::kNone:
      break;
  }
  return {};
}

}  // namespace

PlantedNetwork planted_network(Planted planted, uint32_t seed) {
  Chain chain(seed);
  const int64_t before = chain.pick(1, 5), after = chain.pick(1, 5);
  for (int64_t i = 0; i < before; ++i) chain.layer();
  const std::string origin = chain.plant(planted);
  for (int64_t i = 0; i < after; ++i) chain.layer();
  return chain.finish(origin);
}

}  // namespace clvet::test
