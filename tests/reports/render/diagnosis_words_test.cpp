#include "reports/render/diagnosis_words.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "runtime/precision/diagnosis.h"
#include "runtime/precision/float_fault.h"

namespace clvet {
namespace {

TEST(Percent, HasTwoDigitsAndNoExponent) {
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0.99712), "100 %");
  EXPECT_EQ(percent(0.0029), "0.29 %");
  EXPECT_EQ(percent(0.000141), "0.014 %");
  EXPECT_EQ(percent(0.0346), "3.5 %");
  EXPECT_EQ(percent(12.34), "1234 %");
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(1e-9), "< 0.0001 %");
  EXPECT_EQ(percent(1e30), "> 1000000 %");
  EXPECT_EQ(percent(std::numeric_limits<double>::infinity()), "not finite");
}

TEST(ErrorWords, SayOnceThatAnOutputIsNotFinite) {
  DiagnosedOutput output{"y"};
  output.deviation.add(std::vector<float>{std::numeric_limits<float>::infinity()},
                       std::vector<float>{1});
  output.sign = OutputSign::kNotFinite;
  EXPECT_EQ(error_words(output), "error not finite");
}

TEST(FloatFaultWords, TellWhatFloat32DoesNotHold) {
  PrecisionDiagnosis found;
  found.inputs = {{"a", true}, {"b", true}};
  EXPECT_TRUE(float_fault_words(found).empty());
  found.float_fault = FloatFault{"n", "Exp", true, false, 1, {1}};
  EXPECT_EQ(float_fault_words(found),
            (std::vector<std::string>{"float32 does not hold it either: Exp 'n' gives NaN or "
                                      "infinite values, in float64 it does not",
                                      "with 1 of 2 inputs"}));
  EXPECT_TRUE(no_origin_words(found).empty()) << "nothing is precise enough";
  found.float_fault = FloatFault{"n", "Sub", false, false, 0.5, {0, 1}};
  EXPECT_EQ(float_fault_words(found),
            (std::vector<std::string>{"float32 does not hold it either: from Sub 'n' on values are "
                                      "wrong, and the outputs are off by 50 % from float64"}));
  found.float_fault->in_float64 = true;
  EXPECT_EQ(float_fault_words(found)[0],
            "the model is wrong at any precision: Sub 'n' gives NaN or infinite values of finite "
            "ones, in float64, too");
}

TEST(VerdictWord, IsWrongWhereFloat32Is) {
  DiagnosedInput input{"a", true};
  EXPECT_EQ(verdict_word(input), "right");
  input.in_float32 = false;
  EXPECT_EQ(verdict_word(input), "WRONG in float32, too");
}

}  // namespace
}  // namespace clvet
