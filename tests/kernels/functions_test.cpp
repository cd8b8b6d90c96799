#include "kernels/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/act_table.h"
#include "kernels/catalog.h"
#include "kernels/op_trials.h"

namespace clvet {
namespace {

TEST(EachFunction, StandsAtItsPlaceUnderAnOperatorOfItsOwn) {
  int64_t place = 0;
  for (const FunctionRow& row : function_rows()) {
    EXPECT_EQ(function_of_onnx(row.onnx), place++) << row.onnx;
    EXPECT_EQ(act_of_onnx(row.onnx), nullptr) << row.onnx << " is an activation, too";
  }
  EXPECT_FALSE(function_of_onnx("Conv"));
  EXPECT_FALSE(function_of_onnx(""));
}

TEST(EachFunction, IsTriedByItself) {
  const std::string path = "reference/eltwise_function.json";
  const auto trials = parse_op_trials(path, kernel_text(path).value_or(""));
  ASSERT_TRUE(trials) << trials.error().message;
  std::set<size_t> tried;
  for (const TestShape& test : trials->tests)
    tried.insert(static_cast<size_t>(test.dims.at("code")));
  EXPECT_EQ(tried.size(), function_rows().size());
}

struct FunctionSample {
  std::string_view onnx;
  double z, want;
};

class Functions : public testing::TestWithParam<FunctionSample> {};

TEST_P(Functions, HaveTheirKnownValue) {
  const auto [onnx, z, want] = GetParam();
  const FunctionRow& row = function_rows()[static_cast<size_t>(function_of_onnx(onnx).value())];
  EXPECT_NEAR(row.value(z), want, 1e-12);
}

constexpr double kPi = std::numbers::pi;
INSTANTIATE_TEST_SUITE_P(
    Table, Functions,
    testing::Values(FunctionSample{"Sin", kPi / 6, 0.5}, FunctionSample{"Cos", kPi / 3, 0.5},
                    FunctionSample{"Tan", kPi / 4, 1}, FunctionSample{"Asin", -0.5, -kPi / 6},
                    FunctionSample{"Acos", -0.5, 2 * kPi / 3}, FunctionSample{"Atan", 1, kPi / 4},
                    FunctionSample{"Sinh", std::numbers::ln2, 0.75},
                    FunctionSample{"Cosh", std::numbers::ln2, 1.25},
                    FunctionSample{"Asinh", 0.75, std::numbers::ln2},
                    FunctionSample{"Acosh", 1.25, std::numbers::ln2},
                    FunctionSample{"Atanh", 0.6, std::numbers::ln2},
                    FunctionSample{"Erf", 1, 0.8427007929497149}, FunctionSample{"Log", 1, 0},
                    FunctionSample{"Floor", -1.25, -2}, FunctionSample{"Ceil", -1.25, -1},
                    FunctionSample{"Round", 2.5, 2}, FunctionSample{"Round", -1.5, -2}));

TEST(SlopeOfAFunction, IsTheDerivative) {
  for (const FunctionRow& row : function_rows()) {
    for (const double z : {-3.7, -0.9, -0.4, 0.3, 0.8, 1.1, 2.9}) {
      if (std::isnan(row.value(z))) continue;
      const double step = 1e-6;
      const double slope = (row.value(z + step) - row.value(z - step)) / (2 * step);
      EXPECT_NEAR(row.slope(z), std::fabs(slope), 1e-5) << row.onnx << " at " << z;
    }
  }
}

}  // namespace
}  // namespace clvet
