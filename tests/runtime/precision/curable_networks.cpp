#include "tests/runtime/precision/curable_networks.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/tensor.h"
#include "tests/runtime/model_builder.h"

namespace clvet::test {
namespace {

constexpr int64_t kRows = 64, kWidth = 256, kNarrow = 16;

// One input of normal values, [kRows, kWidth].
class Maker {
 public:
  explicit Maker(std::string name) : name_(std::move(name)) { model_.input("x", {kRows, kWidth}); }

  std::string node(const std::string& op, const std::vector<std::string>& inputs) {
    const std::string out = op + "_" + std::to_string(++count_);
    model_.node(op, inputs, {out});
    return out;
  }
  // `op` with a number.
  std::string with(const std::string& op, const std::string& of, float number) {
    return node(op, {of, constant({1}, {number})});
  }
  // A matrix product with random weights; normal values become `size` times as large.
  std::string product(const std::string& of, int64_t from, int64_t to, double size = 1) {
    const double deviation = size / std::sqrt(static_cast<double>(from));
    return node("MatMul", {of, constant({from, to}, normal(from * to, deviation))});
  }
  // Nothing, but for rounding: half keeps a value of 1 within about number / 2^11 then.
  std::string there_and_back(const std::string& of, float number) {
    return with("Sub", with("Add", of, number), number);
  }

  CurableNetwork ends_with(const std::string& output) {
    model_.output(output);
    return {name_,
            model_.build(),
            {{"x", Tensor::from<float>({kRows, kWidth}, normal(kRows * kWidth, 1))}}};
  }

 private:
  std::string constant(const Shape& shape, const std::vector<float>& values) {
    const std::string name = "c_" + std::to_string(++count_);
    model_.constant(name, shape, values);
    return name;
  }
  std::vector<float> normal(int64_t count, double deviation) {
    std::normal_distribution<float> values(0, static_cast<float>(deviation));
    std::vector<float> all(static_cast<size_t>(count));
    for (float& value : all) value = values(random_);
    return all;
  }

  std::string name_;
  ModelBuilder model_;
  std::mt19937 random_{5};
  int count_ = 0;
};

// Squares overflow. Behind them are two errors, only one of which may stay.
CurableNetwork overflow_and_more() {
  Maker make("an overflow, and one of two errors");
  const auto large = make.with("Mul", "x", 220);
  const auto roots = make.node("Sqrt", {make.node("Mul", {large, large})});
  const auto first = make.there_and_back(roots, 40000);
  return make.ends_with(make.there_and_back(make.product(first, kWidth, kWidth, 1 / 220.), 190));
}

CurableNetwork two_faults() {
  Maker make("two independent faults");
  const auto up = make.with("Mul", make.with("Mul", "x", 3000), 300);
  const auto down = make.with("Mul", up, 1 / 9e5F);
  const auto other = make.there_and_back(make.product("x", kWidth, kWidth), 1500);
  return make.ends_with(make.node("Tanh", {make.node("Add", {down, other})}));
}

// Each of two errors is within the target, both together are not. One is made by two cheap nodes,
// the other one by the constants of a dear one.
CurableNetwork cheap_pair_or_dear_node() {
  Maker make("two cheap nodes or a dear one");
  const auto rounded = make.there_and_back(make.product("x", kWidth, kNarrow), 190);
  const auto large = make.with("Mul", rounded, 3000);
  const auto wide = make.with("Mul", make.product(large, kNarrow, kWidth * 16, 1.8e-6), 200);
  return make.ends_with(make.node("Tanh", {make.product(wide, kWidth * 16, kWidth)}));
}

// What overflows in a stream is carried to its end, past a branch that bears it.
CurableNetwork residual_stream() {
  Maker make("a residual stream");
  const auto start = make.product("x", kWidth, kWidth, 200);
  const auto first = make.with("Add", start, 9e4F);
  const auto second = make.node("Add", {first, make.node("Tanh", {first})});
  const auto third = make.node("Add", {second, make.node("Sigmoid", {second})});
  return make.ends_with(make.with("Mul", make.with("Sub", third, 9e4F), 1 / 200.F));
}

// The dear pair makes most of the error; without the small one of a cheap pair, far from it, it is
// within the target.
CurableNetwork cheap_pair_elsewhere() {
  Maker make("a cheap pair that is not the largest error");
  const auto narrow = make.product("x", kWidth, kNarrow);
  const auto small_error = make.there_and_back(narrow, 180);
  const auto wide = make.product(make.node("Identity", {small_error}), kNarrow, kWidth * 16);
  const auto large_error = make.there_and_back(wide, 250);
  return make.ends_with(make.product(large_error, kWidth * 16, kNarrow));
}

CurableNetwork wide_softmax() {
  Maker make("softmax of a wide range");
  const auto logits = make.with("Add", make.product("x", kWidth, kNarrow, 3), 1400);
  const auto shares = make.node("Softmax", {make.node("Relu", {logits})});
  const auto spread = make.with("Mul", shares, kNarrow);
  return make.ends_with(make.node("Tanh", {make.product(spread, kNarrow, kWidth)}));
}

}  // namespace

std::vector<CurableNetwork> curable_networks() {
  return {overflow_and_more(), two_faults(),           cheap_pair_or_dear_node(),
          residual_stream(),   cheap_pair_elsewhere(), wide_softmax()};
}

}  // namespace clvet::test
