#include "kernels/act_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "kernels/op_trials.h"

namespace clvet {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST(EachActivation, StandsAtItsNumberUnderANameOfItsOwn) {
  std::set<std::string_view> names, operators;
  int64_t number = 0;
  for (const ActRow& row : act_rows()) {
    EXPECT_EQ(static_cast<int64_t>(row.act), number++) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (!row.onnx.empty()) {
      EXPECT_TRUE(operators.insert(row.onnx).second) << row.onnx;
      EXPECT_EQ(act_of_onnx(row.onnx), &row);
    }
    EXPECT_EQ(&act_row(row.act), &row);
  }
  EXPECT_EQ(act_of_onnx(""), nullptr);
  EXPECT_EQ(act_of_onnx("Conv"), nullptr);
}

TEST(EachActivation, IsTriedByItself) {
  const auto trials = parse_op_trials("reference/eltwise_unary.json",
                                      kernel_text("reference/eltwise_unary.json").value_or(""));
  ASSERT_TRUE(trials) << trials.error().message;
  std::set<int64_t> tried = {0};
  for (const TestShape& test : trials->tests) tried.insert(test.dims.at("act"));
  for (const ActRow& row : act_rows()) {
    EXPECT_TRUE(tried.contains(static_cast<int64_t>(row.act))) << row.name;
  }
}

TEST(EachActivation, HasItsCaseInTheTextOfKernels) {
  const std::string text = kernel_text("common/activation.clh").value_or("");
  const std::string whole = with_activations(text);
  EXPECT_THAT(whole, Not(HasSubstr("// ACTIVATIONS")));
  for (const ActRow& row : act_rows()) {
    const std::string number = std::to_string(static_cast<int64_t>(row.act));
    const std::string written = "act == " + number;
    if (row.opencl.empty() && row.act != Act::kSilu) {  // the last of those that share an exp
      EXPECT_THAT(text, AnyOf(HasSubstr(written + ")"), HasSubstr(written + " ")));
    } else if (!row.opencl.empty()) {
      const std::string line = "  if (" + written + ") return " + std::string(row.opencl) + ";\n";
      EXPECT_THAT(whole, HasSubstr(line));
      EXPECT_THAT(text, Not(HasSubstr(written + ")")));
    }
  }
}

struct ActSample {
  Act act;
  double lo, hi, z, want;
};

class Activations : public testing::TestWithParam<ActSample> {};

TEST_P(Activations, HaveTheirDocumentedValue) {
  const auto [act, lo, hi, z, want] = GetParam();
  EXPECT_NEAR(apply_act(act, lo, hi, z), want, 1e-12 * std::max(1.0, std::fabs(want)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, Activations,
    testing::Values(ActSample{Act::kNone, 0, 0, -3, -3}, ActSample{Act::kRelu, 0, 0, -3, 0},
                    ActSample{Act::kClip, -1, 6, 7, 6}, ActSample{Act::kClip, -1, 6, -7, -1},
                    ActSample{Act::kHardSigmoid, 0.2, 0.5, 1, 0.7},
                    ActSample{Act::kHardSigmoid, 0.2, 0.5, 9, 1},
                    ActSample{Act::kHardSwish, 0.25, 0.5, 1, 0.75},
                    ActSample{Act::kHardSwish, 0.25, 0.5, -4, 0},
                    ActSample{Act::kSigmoid, 0, 0, 0, 0.5},
                    ActSample{Act::kTanh, 0, 0, 1, 0.7615941559557649},
                    ActSample{Act::kSilu, 0, 0, 1, 0.7310585786300049},
                    ActSample{Act::kGeluErf, 0, 0, 1, 0.8413447460685429},
                    ActSample{Act::kGeluTanh, 0, 0, 1, 0.8411919906082768},
                    ActSample{Act::kExp, 0, 0, 1, 2.718281828459045},
                    ActSample{Act::kSqrt, 0, 0, 9, 3}, ActSample{Act::kLeakyRelu, 0.1, 0, -5, -0.5},
                    ActSample{Act::kAffine, 2, 1, 3, 7}));

TEST(ActSlope, IsTheDerivative) {
  for (const ActRow& row : act_rows()) {
    const Act act = row.act;
    for (const double z : {-3.7, -1.3, -0.4, 0.3, 1.1, 2.9}) {
      if (row.not_negative && z < 0) continue;
      const double lo = 0.21, hi = 0.52, step = 1e-6;
      const double slope =
          (apply_act(act, lo, hi, z + step) - apply_act(act, lo, hi, z - step)) / (2 * step);
      EXPECT_NEAR(act_slope(act, lo, hi, z), std::fabs(slope), 1e-6) << row.name << " at " << z;
    }
  }
}

TEST(ActSlope, IsTheLargerOneAtAKink) {
  EXPECT_EQ(act_slope(Act::kRelu, 0, 0, 0), 1);
  EXPECT_EQ(act_slope(Act::kClip, 0, 6, 6), 1);
  EXPECT_EQ(act_slope(Act::kLeakyRelu, 0.1, 0, 0), 1);
  EXPECT_EQ(act_slope(Act::kHardSwish, 0.25, 0.5, 2), 1.5);
}

TEST(ANumberOfNoActivation, ChangesNothing) {
  EXPECT_EQ(apply_act(static_cast<Act>(99), 1, 2, -3), -3);
  EXPECT_EQ(apply_act(static_cast<Act>(-1), 1, 2, -3), -3);
}

}  // namespace
}  // namespace clvet
