// NaN in an input: what references, trials and texts of kernels do with it.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include "base/result.h"
#include "kernels/act_table.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "kernels/op_trials.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ANan, PassesEveryActivation) {
  for (const ActRow& row : act_rows()) {
    EXPECT_TRUE(std::isnan(apply_act(row.act, 0.25, 0.5, kNan))) << row.name;
  }
}

// Of three values to one.
struct Extreme {
  std::string name, op;
  Dims dims;
};

void PrintTo(const Extreme& extreme, std::ostream* out) { *out << extreme.name; }

class ReferenceOf : public testing::TestWithParam<Extreme> {
 protected:
  double result(const Values& x) const {
    const Extreme& extreme = GetParam();
    return find_op_contract(extreme.op)->reference({extreme.dims, {}, {{"x", x}}}).value[0];
  }
};

TEST_P(ReferenceOf, IsNanWhereverANanStands) {
  for (size_t i = 0; i < 3; ++i) {
    Values x = {1, -2, 3};
    x[i] = kNan;
    EXPECT_TRUE(std::isnan(result(x))) << i;
  }
}

const Dims kWindow = {{"N", 1},          {"H", 1},         {"W", 3},
                      {"C", 1},          {"KH", 1},        {"KW", 3},
                      {"OH", 1},         {"OW", 1},        {"stride_h", 1},
                      {"stride_w", 1},   {"dil_h", 1},     {"dil_w", 1},
                      {"pad_top", 0},    {"pad_left", 0},  {"kind", 0},
                      {"pad_bottom", 0}, {"pad_right", 0}, {"count_include_pad", 0}};

Dims row_dims(int64_t code) { return {{"M", 1}, {"W", 1}, {"C", 3}, {"code", code}}; }

INSTANTIATE_TEST_SUITE_P(AnExtreme, ReferenceOf,
                         testing::Values(Extreme{"pool", "pool", kWindow},
                                         Extreme{
                                             "pool_global",
                                             "pool_global",
                                             {{"N", 1}, {"H", 1}, {"W", 3}, {"C", 1}, {"kind", 0}}},
                                         Extreme{"largest", "reduce", row_dims(2)},
                                         Extreme{"smallest", "reduce", row_dims(3)},
                                         Extreme{"log_sum_exp", "reduce", row_dims(9)},
                                         Extreme{"softmax", "softmax", row_dims(0)}),
                         [](const auto& info) { return info.param.name; });

TEST(ReferenceOfTwo, IsNanWhicheverIsNan) {
  for (const int64_t code : {4, 5}) {
    const Dims dims = {{"N", 1},  {"H", 1},  {"W", 2},  {"C", 1},      {"N2", 1},
                       {"H2", 1}, {"W2", 2}, {"C2", 1}, {"code", code}};
    const auto y = find_op_contract("eltwise_binary")
                       ->reference({dims, {}, {{"x1", {kNan, 1}}, {"x2", {1, kNan}}}})
                       .value;
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << code;
  }
}

TEST(ReferenceOfLogSumExp, IsTheLimitWhereValuesAreInfinite) {
  const auto of = [](const Values& x) {
    return find_op_contract("reduce")->reference({row_dims(9), {}, {{"x", x}}}).value[0];
  };
  EXPECT_EQ(of({1, kInf, 2}), kInf);
  EXPECT_EQ(of({-kInf, -kInf, -kInf}), -kInf);
  EXPECT_DOUBLE_EQ(of({-kInf, 2, -kInf}), 2);
}

TEST(EmbeddedTrials, PutANanIntoEachOpThatTakesAnExtreme) {
  for (const char* op : {"eltwise_unary", "eltwise_binary", "eltwise_function", "pool",
                         "pool_global", "reduce", "softmax"}) {
    const std::string path = "reference/" + std::string(op) + ".json";
    const auto trials = parse_op_trials(path, kernel_text(path).value_or(""));
    ASSERT_TRUE(trials) << trials.error().message;
    size_t special = 0;
    for (const TestShape& test : trials->tests) special += test.scalars.contains("specials");
    EXPECT_GT(special, 0u) << op;
  }
}

// fmax, fmin and clamp drop a NaN. Behind an exponential of all values it comes back.
TEST(EachActivation, UsesNoFunctionThatDropsNan) {
  const std::string text = with_activations(kernel_text("common/activation.clh").value_or(""));
  for (const char* function : {"fmax(", "fmin(", " clamp("}) {
    EXPECT_THAT(text, Not(HasSubstr(function)));
  }
}

}  // namespace
}  // namespace clvet
