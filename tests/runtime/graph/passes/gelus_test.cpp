// Gelu as exporters spell it out, and what looks like one.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using test::ops_after;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

const std::vector<float> kSamples = {-7, -3, -0.5f, 0, 0.25f, 2, 3, 9};

Tensor samples() { return Tensor::from(Shape{8}, std::span<const float>(kSamples)); }

template <class F>
Tensor mapped(const F& f) {
  std::vector<float> values;
  for (const float x : kSamples) values.push_back(static_cast<float>(f(static_cast<double>(x))));
  return Tensor::from(Shape{8}, std::span<const float>(values));
}

double by_erf(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double by_tanh(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

ModelBuilder with_constants() {
  ModelBuilder model(20);
  model.input("x", {8})
      .constant("half", {}, {0.5})
      .constant("one", {}, {1})
      .constant("two", {}, {2});
  model.constant("root2", {}, {static_cast<float>(std::numbers::sqrt2)});
  model.constant("cubic", {}, {0.044715f}).constant("three", {}, {3});
  model.constant("factor", {}, {static_cast<float>(std::sqrt(2 / std::numbers::pi))});
  model.output("y");
  return model;
}

// As PyTorch writes it: x * (1 + erf(x / sqrt(2))) * 0.5.
ModelBuilder exact(const char* last = "half") {
  ModelBuilder model = with_constants();
  model.node("Div", {"x", "root2"}, {"a"});
  model.node("Erf", {"a"}, {"b"});
  model.node("Add", {"b", "one"}, {"c"});
  model.node("Mul", {"x", "c"}, {"d"});
  model.node("Mul", {"d", last}, {"y"});
  return model;
}

TEST(RecogniseGelus, FindsTheExactOne) {
  EXPECT_THAT(ops_after(exact(), recognise_gelus, {{"x", samples()}}, mapped(by_erf), 1e-5),
              ElementsAre("Gelu"));
}

TEST(RecogniseGelus, FindsTheExactOneThatHalvesFirst) {
  ModelBuilder model = with_constants();
  model.node("Div", {"x", "root2"}, {"a"});
  model.node("Erf", {"a"}, {"b"});
  model.node("Add", {"one", "b"}, {"c"});
  model.node("Div", {"x", "two"}, {"d"});
  model.node("Mul", {"c", "d"}, {"y"});
  EXPECT_THAT(ops_after(model, recognise_gelus, {{"x", samples()}}, mapped(by_erf), 1e-5),
              ElementsAre("Gelu"));
}

TEST(RecogniseGelus, FindsTheOneByTanhHoweverItsPolynomialIsWritten) {
  ModelBuilder products = with_constants();  // x * (0.5 * (1 + tanh(k * (x + x * (x * (c * x))))))
  products.node("Mul", {"cubic", "x"}, {"a"});
  products.node("Mul", {"x", "a"}, {"b"});
  products.node("Mul", {"x", "b"}, {"c"});
  products.node("Add", {"x", "c"}, {"d"});
  products.node("Mul", {"factor", "d"}, {"e"});
  products.node("Tanh", {"e"}, {"f"});
  products.node("Add", {"one", "f"}, {"g"});
  products.node("Mul", {"half", "g"}, {"h"});
  products.node("Mul", {"x", "h"}, {"y"});
  ModelBuilder power = with_constants();  // 0.5 * x * (tanh(k * (x + c * x ** 3)) + 1)
  power.node("Pow", {"x", "three"}, {"a"});
  power.node("Mul", {"a", "cubic"}, {"b"});
  power.node("Add", {"x", "b"}, {"c"});
  power.node("Mul", {"c", "factor"}, {"d"});
  power.node("Tanh", {"d"}, {"e"});
  power.node("Add", {"e", "one"}, {"f"});
  power.node("Mul", {"x", "half"}, {"g"});
  power.node("Mul", {"g", "f"}, {"y"});
  for (const ModelBuilder& model : {products, power}) {
    EXPECT_THAT(ops_after(model, recognise_gelus, {{"x", samples()}}, mapped(by_tanh), 1e-5),
                ElementsAre("Gelu"));
  }
}

TEST(RecogniseGelus, LeavesWhatOnlyLooksLikeOne) {
  Graph twice = test::folded(exact("two"));
  recognise_gelus(twice);
  EXPECT_THAT(test::ops_of(twice), Not(Contains("Gelu")));
  ModelBuilder model = with_constants();  // of another argument
  model.node("Div", {"x", "two"}, {"a"});
  model.node("Erf", {"a"}, {"b"});
  model.node("Add", {"b", "one"}, {"c"});
  model.node("Mul", {"x", "c"}, {"d"});
  model.node("Mul", {"d", "half"}, {"y"});
  Graph other = test::folded(model);
  recognise_gelus(other);
  EXPECT_THAT(test::ops_of(other), Not(Contains("Gelu")));
}

}  // namespace
}  // namespace clvet
