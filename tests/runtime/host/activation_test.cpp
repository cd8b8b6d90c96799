// The CPU path's activations against those of the kernels' contracts, in float64.
#include "runtime/host/activation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Of all sizes of float, of both signs, closer together where activations bend.
std::vector<float> arguments() {
  std::vector<float> x = {0.f, -0.f, kInf, -kInf, std::numeric_limits<float>::max(), 1e-44f};
  for (int exponent = -140; exponent < 128; exponent += 7) {
    x.push_back(std::ldexp(1.37f, exponent));
    x.push_back(-x.back());
  }
  for (int i = -1100; i <= 1100; ++i) x.push_back(static_cast<float>(i) * 0.1013f);
  return x;
}

// (1 + erf(x / sqrt 2)) / 2 and (1 + tanh(u)) / 2, times x, without the digits that float64 loses
// where the sums are near 0.
double gelu(Act act, double x) {
  const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x);
  return act == Act::kGeluErf ? x * std::erfc(-x / std::sqrt(2.0)) / 2 : x / (1 + std::exp(-2 * u));
}

// 4 units in the last place of the result, of which the smallest float is one; that times x in a
// product with x. Where the formula in float64 is no number, nothing is expected.
TEST(Activations, AreThoseOfTheContractsAtEveryWidth) {
  for (const ActRow& row : act_rows()) {
    SCOPED_TRACE(row.name);
    const double lo = row.act == Act::kClip ? -1.5 : 0.3, hi = 0.7;
    test::at_each_width([&] {
      const std::vector<float> x = arguments();
      std::vector<float> y = x;
      activate({row.act, lo, hi}, y.data(), static_cast<int64_t>(y.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const bool is_gelu = row.act == Act::kGeluErf || row.act == Act::kGeluTanh;
        const double want =
            is_gelu ? gelu(row.act, x[i])
                    : apply_act(row.act, static_cast<float>(lo), static_cast<float>(hi), x[i]);
        if (std::isnan(want)) continue;
        const auto rounded = static_cast<float>(want);
        if (std::isinf(rounded)) {
          EXPECT_EQ(y[i], rounded) << x[i];
          continue;
        }
        // An affine map of float32 may lose the digits that its terms have in common.
        const double size =
            std::max(std::fabs(want), std::fabs(lo * double{x[i]}) < 4 ? 1e-1 : 0.0);
        const bool affine =
            row.act == Act::kAffine || row.act == Act::kHardSigmoid || row.act == Act::kHardSwish;
        const double ulp = std::ldexp(affine ? size : std::fabs(want), -23);
        const double units = 4 + (is_gelu ? double{x[i]} * x[i] : 0);
        EXPECT_NEAR(y[i], want, units * ulp + 2e-45 * std::max(1.f, std::fabs(x[i]))) << x[i];
      }
    });
  }
}

TEST(Activations, KeepNaN) {
  for (const ActRow& row : act_rows()) {
    test::at_each_width([&] {
      std::vector<float> y(21, std::nanf(""));
      activate({row.act, -1, 1}, y.data(), 21);
      for (const float value : y) EXPECT_TRUE(std::isnan(value)) << row.name;
    });
  }
}

TEST(Activations, LeaveAloneWhatLiesBehindTheLastValue) {
  test::at_each_width([&] {
    for (size_t count = 0; count < 40; ++count) {
      std::vector<float> y(64, -1);
      activate({Act::kRelu}, y.data(), static_cast<int64_t>(count));
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], i < count ? 0 : -1) << count;
    }
  });
}

}  // namespace
}  // namespace clvet
