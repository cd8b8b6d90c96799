#include "reports/render/diagnosis_words.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "runtime/precision/diagnosis.h"

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

}  // namespace
}  // namespace clvet
