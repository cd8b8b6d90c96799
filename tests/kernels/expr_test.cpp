#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/expr.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<int64_t> evaluate(std::string_view text) {
  static const std::map<std::string, int64_t, std::less<>> names = {
      {"M", 35}, {"N", 50}, {"zero", 0}, {"stride_w", 2}};
  return evaluate_expr(text, [](std::string_view name) -> std::optional<int64_t> {
    const auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
  });
}

struct Row {
  const char* text;
  int64_t value;
};

class Expressions : public testing::TestWithParam<Row> {};

TEST_P(Expressions, HaveTheValueOfTheirCounterpartInC) {
  const auto value = evaluate(GetParam().text);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Expressions,
    testing::Values(Row{"7", 7}, Row{"M", 35}, Row{"1 + 2 * 3", 7}, Row{"(1 + 2) * 3", 9},
                    Row{"20 / 3 % 4", 2}, Row{"10 - 3 - 2", 5}, Row{"-M + 36", 1}, Row{"--2", 2},
                    Row{"!zero", 1}, Row{"!!M", 1}, Row{"M != 35", 0}, Row{"M == 35 && N >= 50", 1},
                    Row{"M < 35 || N <= 49", 0}, Row{"M > 1 ? M : N", 35},
                    Row{"zero ? 1 : zero ? 2 : 3", 3}, Row{"ceil_div(M, 4)", 9},
                    Row{"round_up(N, 16)", 64}, Row{"min(M, N)", 35},
                    Row{"max(M, N * stride_w)", 100}, Row{"ceil_div(round_up(M, 8), 4) + 1", 11},
                    Row{"  M*N ", 1750}));

TEST(Expression, DoesNotEvaluateTheSideThatIsNotTaken) {
  EXPECT_EQ(evaluate("zero ? 1 / zero : 5").value(), 5);
  EXPECT_EQ(evaluate("zero != 0 && 1 / zero").value(), 0);
  EXPECT_EQ(evaluate("zero == 0 || 1 % zero").value(), 1);
}

TEST(Expression, NamesTheUnknownName) {
  const auto value = evaluate("M * depth");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(value.error().message, HasSubstr("unknown name 'depth'"));
  EXPECT_THAT(value.error().message, HasSubstr("M * depth"));
}

TEST(Expression, RefusesWhatIsNotAnExpression) {
  for (const char* text : {"", "M +", "(M", "M N", "ceil_div(M)", "log(M, 2)", "1 / zero", "3x",
                           "M ? 1", "99999999999999999999"}) {
    EXPECT_FALSE(evaluate(text)) << text;
  }
}

TEST(Expression, ListsTheNamesThatItRefersTo) {
  EXPECT_THAT(expr_names("a ? b : ceil_div(c, 4)").value(), ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace clvet
