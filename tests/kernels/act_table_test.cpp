#include "kernels/act_table.h"

#include <gmock/gmock.h>

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

TEST(ANumberOfNoActivation, ChangesNothing) {
  EXPECT_EQ(apply_act(static_cast<Act>(99), 1, 2, -3), -3);
  EXPECT_EQ(apply_act(static_cast<Act>(-1), 1, 2, -3), -3);
}

}  // namespace
}  // namespace clvet
