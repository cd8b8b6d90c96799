#include "tests/conformance/compare.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

#include "runtime/graph/tensor.h"

namespace clvet::conformance {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Compare, FloatsMayDifferByTheirThousandthAndALittle) {
  const Tensor want = Tensor::of<float>({2}, {1000, 0});
  EXPECT_THAT(difference(Tensor::of<float>({2}, {1000.9f, 9e-6f}), want), IsEmpty());
  EXPECT_THAT(difference(Tensor::of<float>({2}, {1001.1f, 0}), want), HasSubstr("element 0"));
  EXPECT_THAT(difference(Tensor::of<float>({2}, {1000, 2e-5f}), want), HasSubstr("element 1"));
}

TEST(Compare, NanAndInfinitiesMatchOnlyThemselves) {
  const Tensor want = Tensor::of<float>({2}, {kNan, kInfinity});
  EXPECT_THAT(difference(want, want), IsEmpty());
  EXPECT_THAT(difference(Tensor::of<float>({2}, {0, kInfinity}), want), HasSubstr("element 0"));
  EXPECT_THAT(difference(Tensor::of<float>({2}, {kNan, -kInfinity}), want), HasSubstr("element 1"));
  EXPECT_THAT(difference(Tensor::of<float>({1}, {kInfinity}), Tensor::of<float>({1}, {3e38f})),
              HasSubstr("element 0"));
}

TEST(Compare, IntegersAreExact) {
  EXPECT_THAT(difference(Tensor::of<int64_t>({1}, {1000001}), Tensor::of<int64_t>({1}, {1000000})),
              HasSubstr("element 0 is 1000001, not 1000000"));
}

TEST(Compare, TypeAndShapeCount) {
  const Tensor want = Tensor::of<float>({1, 2}, {1, 2});
  EXPECT_THAT(difference(Tensor::of<float>({2}, {1, 2}), want), HasSubstr("f32[2], not f32[1,2]"));
  EXPECT_THAT(difference(Tensor::of<int32_t>({1, 2}, {1, 2}), want), HasSubstr("i32"));
}

}  // namespace
}  // namespace clvet::conformance
