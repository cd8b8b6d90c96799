// Float functions of halves: computed wider, rounded once.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

struct Function {
  std::string name, op;
  Attributes attributes;
  double (*value)(double x);
};

void PrintTo(const Function& function, std::ostream* out) { *out << function.name; }

class HalfFunction : public ::testing::TestWithParam<Function> {};

// From one half to the next one.
double step_at(double value) {
  return std::exp2(std::floor(std::log2(std::max(std::fabs(value), 0x1p-14))) - 10);
}

TEST_P(HalfFunction, IsWithinOneStepOfItsValueOnEveryHalf) {
  std::vector<Half> all;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) all.push_back({static_cast<uint16_t>(bits)});
  const Tensor x = Tensor::from<Half>({static_cast<int64_t>(all.size())}, all);
  const auto& [name, op, attributes, value] = GetParam();
  const std::vector<double> in = x.to_f64();
  const std::vector<double> got =
      test::run_one(test::make_node(op, 1, attributes, 22), {x}).to_f64();
  int wrong = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const double want = value(in[i]);
    if (!std::isfinite(in[i]) || std::fabs(want) > 65504) continue;
    wrong += !(std::fabs(got[i] - want) <= step_at(want));
  }
  EXPECT_EQ(wrong, 0);
}

double gelu_tanh(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

INSTANTIATE_TEST_SUITE_P(
    All, HalfFunction,
    ::testing::Values(
        Function{"gelu",
                 "Gelu",
                 {},
                 [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }},
        Function{"gelu_tanh", "Gelu", {{"approximate", test::word("tanh")}}, gelu_tanh},
        Function{"sigmoid", "Sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
        Function{"softplus",
                 "Softplus",
                 {},
                 [](double x) {
                   return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
                 }},
        Function{"elu", "Elu", {}, [](double x) { return x < 0 ? std::expm1(x) : x; }},
        Function{"mish",
                 "Mish",
                 {},
                 [](double x) {
                   return x *
                          std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
                 }},
        Function{"tanh", "Tanh", {}, [](double x) { return std::tanh(x); }},
        Function{"erf", "Erf", {}, [](double x) { return std::erf(x); }},
        Function{"exp", "Exp", {}, [](double x) { return std::exp(x); }},
        Function{"hard_swish",
                 "HardSwish",
                 {},
                 [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace clvet
