#include "tests/conformance/by_design.h"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "base/file.h"
#include "runtime/graph/tensor.h"
#include "tests/support.h"

namespace clvet::conformance {
namespace {

using testing::HasSubstr;
using Types = std::vector<DType>;

HostByDesign list() {
  auto read = HostByDesign::read(CLVET_SOURCE_DIR "/tests/conformance/host_by_design.json");
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(*read) : HostByDesign{};
}

const Types kFloats = {DType::kF32, DType::kF32}, kLongs = {DType::kI64, DType::kI64},
            kFloat = {DType::kF32}, kLong = {DType::kI64}, kTruth = {DType::kBool};

TEST(HostByDesign, CoversShapeQueriesAndControlFlowWhateverTheirTypes) {
  EXPECT_TRUE(list().covers("Shape", kFloat, kLong));
  EXPECT_TRUE(list().covers("If", kTruth, kFloat));
}

TEST(HostByDesign, CoversArithmeticOnIntegersButNotOnFloats) {
  EXPECT_TRUE(list().covers("Add", kLongs, kLong));
  EXPECT_FALSE(list().covers("Add", kFloats, kFloat));
  EXPECT_TRUE(list().covers("Equal", kLongs, kTruth));
  EXPECT_FALSE(list().covers("Equal", kFloats, kTruth));
}

TEST(HostByDesign, CoversAnIntegerToThePowerOfAFloatButNoFloatToAnyPower) {
  const Types integer_first = {DType::kI32, DType::kF32}, float_first = {DType::kF32, DType::kI32};
  EXPECT_TRUE(list().covers("Pow", integer_first, Types{DType::kI32}));
  EXPECT_FALSE(list().covers("Pow", float_first, kFloat));
}

TEST(HostByDesign, AFloatInputOrOutputBesideIntegersIsNotCovered) {
  const Types mixed = {DType::kF32, DType::kI64};
  EXPECT_FALSE(list().covers("Gather", mixed, kFloat));
  EXPECT_FALSE(list().covers("ArgMax", kFloat, kLong));
}

TEST(HostByDesign, CoversACastWithAnIntegerSideOnly) {
  EXPECT_TRUE(list().covers("Cast", kFloat, kLong));
  EXPECT_TRUE(list().covers("Cast", kLong, kFloat));
  EXPECT_FALSE(list().covers("Cast", kFloat, kFloat));
}

TEST(HostByDesign, DoesNotCoverAnOperatorThatIsNotListed) {
  EXPECT_FALSE(list().covers("Conv", kLongs, kLong));
}

TEST(HostByDesign, RefusesAListWithARowWithoutReasonOrAnOperatorTwice) {
  const test::TempDir dir;
  const std::string path = dir / "by_design.json";
  ASSERT_TRUE(write_file_atomically(path, R"([{"when": "always", "operators": ["Shape"]}])"));
  const auto no_reason = HostByDesign::read(path);
  ASSERT_FALSE(no_reason);
  EXPECT_THAT(no_reason.error().message, HasSubstr("why"));
  ASSERT_TRUE(write_file_atomically(
      path, R"([{"when": "always", "why": "x", "operators": ["Shape", "Shape"]}])"));
  const auto twice = HostByDesign::read(path);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("Shape is listed twice"));
}

}  // namespace
}  // namespace clvet::conformance
