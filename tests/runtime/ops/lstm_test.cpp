// LSTM against ONNX's equations in float64.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::Index;
using test::make_node;
using test::noise;
using test::refusal;
using test::word;
using ::testing::HasSubstr;

constexpr int64_t kSteps = 5, kBatch = 2, kInput = 3, kHidden = 4;

// Inputs by ONNX's order: X W R B lengths initial_h initial_c P; absent ones are left out of a
// node.
struct Lstm {
  std::string direction = "forward";
  bool batch_first = false;
  bool with_state = true, with_peepholes = true, with_bias = true;
  std::vector<int32_t> lengths = {};

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  Shape state() const {
    return batch_first ? Shape{kBatch, directions(), kHidden}
                       : Shape{directions(), kBatch, kHidden};
  }
  std::map<size_t, Tensor> tensors() const {
    const int64_t d = directions();
    std::map<size_t, Tensor> all;
    all[0] = noise(batch_first ? Shape{kBatch, kSteps, kInput} : Shape{kSteps, kBatch, kInput}, 1);
    all[1] = noise({d, 4 * kHidden, kInput}, 2);
    all[2] = noise({d, 4 * kHidden, kHidden}, 3);
    if (with_bias) all[3] = noise({d, 8 * kHidden}, 4);
    if (!lengths.empty()) all[4] = Tensor::from<int32_t>({kBatch}, lengths);
    if (with_state) all[5] = noise(state(), 5);
    if (with_state) all[6] = noise(state(), 6);
    if (with_peepholes) all[7] = noise({d, 3 * kHidden}, 7);
    return all;
  }
  Node node() const {
    Node node = make_node(
        "LSTM", 8,
        {{"direction", direction}, {"layout", int64_t{batch_first}}, {"hidden_size", kHidden}}, 14,
        3);
    const auto all = tensors();
    for (size_t i = 0; i < 8; ++i) {
      if (!all.contains(i)) node.inputs[i] = kNoValue;
    }
    return node;
  }
  std::vector<Tensor> run() const {
    const auto all = tensors();
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < 8; ++i) inputs.push_back(all.contains(i) ? &all.at(i) : nullptr);
    const auto outputs = run_node(node(), inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? *outputs : std::vector<Tensor>(3);
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Made {
  std::map<Index, double> y;     // [step, direction, batch, unit]; 0 where absent
  std::map<Index, double> h, c;  // [direction, batch, unit], after the last step
};

// it = f(Xt Wi + Ht-1 Ri + Pi . Ct-1 + Wbi + Rbi) and so on, gates in the order i o f c.
Made plain(const Lstm& lstm) {
  const auto all = lstm.tensors();
  const auto value = [&](size_t input, const Index& at) {
    return all.contains(input) ? Grid(all.at(input)).at(at) : 0;
  };
  const auto state_at = [&](int64_t d, int64_t b, int64_t u) {
    return lstm.batch_first ? Index{b, d, u} : Index{d, b, u};
  };
  Made made;
  test::each_index({lstm.directions(), kBatch}, [&](const Index& which) {
    const int64_t d = which[0], b = which[1];
    const int64_t length = lstm.lengths.empty() ? kSteps : lstm.lengths[static_cast<size_t>(b)];
    std::vector<double> h, c;
    for (int64_t u = 0; u < kHidden; ++u) {
      h.push_back(value(5, state_at(d, b, u)));
      c.push_back(value(6, state_at(d, b, u)));
    }
    for (int64_t s = 0; s < length; ++s) {
      const bool backwards = lstm.direction == "reverse" || d == 1;
      const int64_t t = backwards ? length - 1 - s : s;
      const std::vector<double> before = h;
      const auto gate = [&](int64_t k, int64_t u) {
        const int64_t row = k * kHidden + u;
        double sum = value(3, {d, row}) + value(3, {d, row + 4 * kHidden});
        for (int64_t i = 0; i < kInput; ++i) {
          sum +=
              value(0, lstm.batch_first ? Index{b, t, i} : Index{t, b, i}) * value(1, {d, row, i});
        }
        for (size_t i = 0; i < before.size(); ++i) {
          sum += before[i] * value(2, {d, row, static_cast<int64_t>(i)});
        }
        return sum;
      };
      for (int64_t u = 0; u < kHidden; ++u) {
        double& cell = c[static_cast<size_t>(u)];
        const double in = sigmoid(gate(0, u) + value(7, {d, u}) * cell);
        const double forget = sigmoid(gate(2, u) + value(7, {d, 2 * kHidden + u}) * cell);
        cell = forget * cell + in * std::tanh(gate(3, u));
        const double out = sigmoid(gate(1, u) + value(7, {d, kHidden + u}) * cell);
        h[static_cast<size_t>(u)] = made.y[{t, d, b, u}] = out * std::tanh(cell);
      }
    }
    for (int64_t u = 0; u < kHidden; ++u) {
      made.h[state_at(d, b, u)] = h[static_cast<size_t>(u)];
      made.c[state_at(d, b, u)] = c[static_cast<size_t>(u)];
    }
  });
  return made;
}

// Sums of 7 terms and 5 steps in float32.
void expect_equations(const Lstm& lstm) {
  SCOPED_TRACE(lstm.direction + (lstm.batch_first ? " by batch" : ""));
  const std::vector<Tensor> outputs = lstm.run();
  const Made want = plain(lstm);
  const int64_t d = lstm.directions();
  const Shape all =
      lstm.batch_first ? Shape{kBatch, kSteps, d, kHidden} : Shape{kSteps, d, kBatch, kHidden};
  const auto found = [](const std::map<Index, double>& values, const Index& at) {
    return values.contains(at) ? values.at(at) : 0;
  };
  test::expect_grid(
      outputs[0],
      Grid(all,
           [&](const Index& at) {
             return found(want.y, lstm.batch_first ? Index{at[1], at[2], at[0], at[3]} : at);
           }),
      2e-6);
  test::expect_grid(outputs[1],
                    Grid(lstm.state(), [&](const Index& at) { return found(want.h, at); }), 2e-6);
  test::expect_grid(outputs[2],
                    Grid(lstm.state(), [&](const Index& at) { return found(want.c, at); }), 2e-6);
}

TEST(Lstm, FollowsTheEquationsInEveryDirectionAndLayout) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const bool batch_first : {false, true}) {
      expect_equations({.direction = direction, .batch_first = batch_first});
    }
  }
}

TEST(Lstm, TakesAbsentInputsAsZero) {
  expect_equations({.with_state = false});
  expect_equations({.direction = "reverse", .with_peepholes = false});
  expect_equations({.direction = "bidirectional", .with_state = false, .with_bias = false});
}

TEST(Lstm, StopsEachSequenceAtItsOwnLength) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    expect_equations({.direction = direction, .lengths = {2, 5}});
    expect_equations({.direction = direction, .batch_first = true, .lengths = {0, 3}});
  }
}

std::vector<Tensor> small(const Shape& x, const Shape& w, const Shape& r) {
  return {noise(x, 1), noise(w, 2), noise(r, 3)};
}

TEST(Lstm, OfNoStepsKeepsTheInitialState) {
  const auto outputs =
      test::run_op(make_node("LSTM", 3, {}, 14, 3), small({0, 2, 3}, {1, 8, 3}, {1, 8, 2}));
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[0].shape(), (Shape{0, 1, 2, 2}));
  EXPECT_THAT(test::floats((*outputs)[1]), ::testing::Each(0));
  const auto none = test::run_op(make_node("LSTM", 3), small({4, 0, 3}, {1, 8, 3}, {1, 8, 2}));
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ((*none)[0].shape(), (Shape{4, 1, 0, 2}));
}

TEST(Lstm, RefusesShapesThatDoNotFit) {
  const struct {
    Shape x, w, r;
  } faults[] = {
      {{5, 2}, {1, 8, 3}, {1, 8, 2}},    {{5, 2, 3}, {1, 8, 4}, {1, 8, 2}},
      {{5, 2, 3}, {2, 8, 3}, {1, 8, 2}}, {{5, 2, 3}, {1, 6, 3}, {1, 8, 2}},
      {{5, 2, 3}, {1, 8, 3}, {1, 6, 2}}, {{5, 2, 3}, {1, 0, 3}, {1, 0, 0}},
  };
  for (const auto& fault : faults) {
    EXPECT_THAT(
        refusal(make_node("LSTM", 3), small(fault.x, fault.w, fault.r)),
        ::testing::AnyOf(HasSubstr("do not fit together"), HasSubstr("cannot have the shape")));
  }
}

TEST(Lstm, RefusesAttributesThatLieOrThatItDoesNotCompute) {
  const auto why = [](Attributes attributes) {
    return refusal(make_node("LSTM", 3, std::move(attributes)),
                   small({5, 2, 3}, {1, 8, 3}, {1, 8, 2}));
  };
  EXPECT_THAT(why({{"direction", word("sideways")}}), HasSubstr("sideways"));
  EXPECT_THAT(why({{"hidden_size", int64_t{3}}}), HasSubstr("hidden_size"));
  EXPECT_THAT(why({{"clip", -1.0}}), HasSubstr("clip"));
  EXPECT_THAT(why({{"activations", std::vector<std::string>{"Relu", "Tanh"}}}),
              HasSubstr("activations"));
  EXPECT_THAT(why({{"activations", std::vector<std::string>{"Relu", "Tanh", "Cosh"}}}),
              HasSubstr("activations"));
  EXPECT_EQ(why({{"input_forget", int64_t{0}}, {"hidden_size", int64_t{2}}}), "(accepted)");
}

// ONNX has them in int32; int64 must not be read as if it were.
TEST(Lstm, RefusesLengthsOfAnotherType) {
  Node node = make_node("LSTM", 5);
  node.inputs[3] = kNoValue;
  const auto parts = small({5, 2, 3}, {1, 8, 3}, {1, 8, 2});
  const Tensor lengths = test::i64s({1, 4});
  const std::vector<const Tensor*> inputs = {&parts[0], &parts[1], &parts[2], nullptr, &lengths};
  const auto outputs = run_node(node, inputs);
  ASSERT_FALSE(outputs);
  EXPECT_THAT(outputs.error().message, HasSubstr("i64"));
}

// W and R of 1 direction as integers, [from, to], and what they are as floats, [to, from].
struct Integers {
  Tensor stored, floats;
};

Integers integers(int64_t from, uint32_t seed, float scale, int zero) {
  const Tensor draw = noise({1, from, 4 * kHidden}, seed);
  Integers made{Tensor::create(DType::kI8, draw.shape()).value(),
                Tensor::create(DType::kF32, {1, 4 * kHidden, from}).value()};
  for (int64_t i = 0; i < from; ++i) {
    for (int64_t j = 0; j < 4 * kHidden; ++j) {
      const auto q = static_cast<int8_t>(100 * draw.data<float>()[i * 4 * kHidden + j]);
      made.stored.data<int8_t>()[i * 4 * kHidden + j] = q;
      made.floats.data<float>()[j * from + i] = static_cast<float>(q - zero) * scale;
    }
  }
  return made;
}

// Of a node with its first inputs, and the scales and zero points.
Node quantised_node() {
  Node node = test::microsoft_node("DynamicQuantizeLSTM", 12);
  for (const size_t absent : {3, 4, 5, 6, 7}) node.inputs[absent] = kNoValue;
  return node;
}

Result<std::vector<Tensor>> quantised(const std::map<size_t, Tensor>& inputs) {
  std::vector<const Tensor*> pointers(12);
  for (const auto& [i, tensor] : inputs) pointers[i] = &tensor;
  return run_node(quantised_node(), pointers);
}

TEST(DynamicQuantizeLstm, IsTheLstmOfItsWeightsOnRoundedValues) {
  const Integers w = integers(kInput, 1, 0.01f, 3), r = integers(kHidden, 2, 0.005f, -5);
  // Whole steps of 1 / 255 over a range of 1: rounding leaves them as they are.
  const Tensor x = Tensor::of<float>({1, 1, kInput}, {-102.f / 255, 0, 153.f / 255});
  std::map<size_t, Tensor> inputs = {{0, x},
                                     {1, w.stored},
                                     {2, r.stored},
                                     {8, Tensor::of<float>({1}, {0.01f})},
                                     {9, Tensor::of<int8_t>({1}, {3})},
                                     {10, Tensor::of<float>({1}, {0.005f})},
                                     {11, Tensor::of<int8_t>({1}, {-5})}};
  const auto got = quantised(inputs);
  ASSERT_TRUE(got) << got.error().message;
  const Node plain = make_node("LSTM", 3, {{"hidden_size", kHidden}}, 14, 1);
  test::expect_near(got->at(0), test::run_one(plain, {x, w.floats, r.floats}), 1e-5);
}

TEST(DynamicQuantizeLstm, RefusesScalesThatAreNotForItsWeights) {
  const Integers w = integers(kInput, 1, 1, 0), r = integers(kHidden, 2, 1, 0);
  const std::map<size_t, Tensor> good = {{0, noise({1, 1, kInput})},
                                         {1, w.stored},
                                         {2, r.stored},
                                         {8, Tensor::of<float>({1}, {1})},
                                         {9, Tensor::of<int8_t>({1}, {0})},
                                         {10, Tensor::of<float>({1}, {1})},
                                         {11, Tensor::of<int8_t>({1}, {0})}};
  EXPECT_TRUE(quantised(good));
  const std::pair<size_t, Tensor> bad[] = {{1, noise({1, kInput, 4 * kHidden})},
                                           {1, r.stored.reshaped({kHidden, 4 * kHidden})},
                                           {2, w.stored},
                                           {8, Tensor::of<float>({2}, {1, 1})},
                                           {9, Tensor::of<uint8_t>({1}, {0})},
                                           {11, Tensor::of<int8_t>({2}, {0, 0})}};
  for (const auto& [i, tensor] : bad) {
    std::map<size_t, Tensor> inputs = good;
    inputs[i] = tensor;
    EXPECT_FALSE(quantised(inputs)) << i;
  }
}

}  // namespace
}  // namespace clvet
