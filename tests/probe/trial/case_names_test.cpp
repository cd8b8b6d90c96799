#include <gmock/gmock.h>

#include <string>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/trial/case_names.h"

namespace clvet {
namespace {

using testing::HasSubstr;

Status check(const std::string& pattern) {
  static const Catalog kCatalog = *Catalog::embedded();
  return check_case_patterns(kCatalog, {"gemm", pattern});
}

TEST(CasePatterns, ThatMeanACaseAreTaken) {
  for (const char* pattern : {"gemv_split", "gemv_split/low/*/odd", "*", "softmax_row/high"})
    EXPECT_TRUE(check(pattern)) << pattern;
}

TEST(CasePatterns, ThatMeanNoneAreRefusedWithTheNearestNames) {
  const Status kernel = check("gemv_splt");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(kernel.error().message,
              testing::AllOf(HasSubstr("gemv_splt"), HasSubstr("gemv_split")));
  const Status precision = check("softmax_row/hihg");
  ASSERT_FALSE(precision);
  EXPECT_THAT(precision.error().message, HasSubstr("softmax_row/high"));
}

}  // namespace
}  // namespace clvet
