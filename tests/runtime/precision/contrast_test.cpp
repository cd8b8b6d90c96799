#include "runtime/precision/contrast.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

DiagnosedInput input(bool right, const std::map<std::string, std::vector<float>>& values) {
  DiagnosedInput row{"input", right};
  for (const auto& [name, of] : values) row.ranges[name].add(of, NumberFormat::kHalf);
  return row;
}

TEST(Contrasts, TellWhereTheSizeDecides) {
  const std::vector<DiagnosedInput> inputs = {
      input(true, {{"x", {1, -20}}}), input(false, {{"x", {300, 2}}}),
      input(false, {{"x", {-400, 1}}}), input(true, {{"x", {3}}})};
  const auto rows = contrasts_of(inputs);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].value, "x");
  EXPECT_TRUE(rows[0].apart());
  EXPECT_EQ(rows[0].least_failing, 300);
  EXPECT_EQ(rows[0].most_passing, 20);
  EXPECT_EQ(rows[0].failing.least, -400);
  EXPECT_EQ(rows[0].failing.greatest, 300);
  EXPECT_EQ(rows[0].passing.least, -20);
}

TEST(Contrasts, TellEachValueByItself) {
  const auto rows = contrasts_of(std::vector<DiagnosedInput>{
      input(true, {{"x", {1}}, {"z", {50}}}), input(false, {{"x", {100}}, {"z", {5}}})});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].apart());
  EXPECT_FALSE(rows[1].apart()) << "the larger one passes";
}

TEST(Contrasts, AreNoneWhereAllFailOrAllPass) {
  for (const bool right : {true, false})
    EXPECT_TRUE(contrasts_of(std::vector<DiagnosedInput>{input(right, {{"x", {1}}}),
                                                         input(right, {{"x", {9}}})})
                    .empty());
  EXPECT_TRUE(contrasts_of({}).empty());
}

TEST(Contrasts, LeaveOutValuesWithoutFloats) {
  EXPECT_TRUE(
      contrasts_of(std::vector<DiagnosedInput>{input(true, {{"x", {}}}), input(false, {{"x", {}}})})
          .empty());
}

TEST(Contrasts, AreThoseOfADiagnosis) {
  test::ModelBuilder model;
  model.input("x", {2}).constant("c", {1}, {1.f / 1024});
  model.node("Mul", {"x", "x"}, {"s"});
  model.node("Mul", {"s", "c"}, {"y"});
  const auto found = diagnose_network(model.output("y").build(),
                                      {{"small", {{"x", Tensor::of<float>({2}, {1, 2})}}},
                                       {"large", {{"x", Tensor::of<float>({2}, {1, -400})}}}},
                                      {.policy = Policy::kNaive});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->contrasts.size(), 1u);
  EXPECT_TRUE(found->contrasts[0].apart());
  EXPECT_EQ(found->contrasts[0].failing.least, -400);
  EXPECT_EQ(found->contrasts[0].passing.greatest, 2);
}

}  // namespace
}  // namespace clvet
