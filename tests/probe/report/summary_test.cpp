#include <gmock/gmock.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/device_selector.h"
#include "probe/report/report.h"
#include "probe/report/summary.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

constexpr Combination kPlain{Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
constexpr Combination kHalf{Precision::kNormal, Memory::kNormal, Storage::kBuffer,
                            Storage::kBuffer};

VerdictReport row(const Combination& combination, Verdict verdict, double gflops = 0,
                  const std::string& op = "gemm") {
  static int number = 0;
  VerdictReport out;
  out.case_name = op + "/" + std::to_string(++number);
  out.op = op;
  out.combination = combination;
  out.verdict = verdict;
  out.gflops = gflops;
  if (verdict == Verdict::kUnsupported) out.evidence.note = "needs cl_khr_fp16";
  return out;
}

CombinationReport status_of(const std::vector<Verdict>& verdicts) {
  std::vector<VerdictReport> rows;
  for (const Verdict verdict : verdicts) rows.push_back(row(kPlain, verdict));
  DeviceReport device;
  summarise_device(rows, device);
  return device.combinations.at(0);
}

TEST(Summary, CallsACombinationByWhatItsCasesSay) {
  using enum Verdict;
  EXPECT_EQ(status_of({kPass, kPass}).status, CombinationStatus::kPass);
  EXPECT_EQ(status_of({kPass, kWrong}).status, CombinationStatus::kPartial);
  EXPECT_EQ(status_of({kPass, kMissing}).status, CombinationStatus::kPartial);
  EXPECT_EQ(status_of({kCrash, kHang}).status, CombinationStatus::kFail);
  EXPECT_EQ(status_of({kCrash, kMissing}).status, CombinationStatus::kFail);
  EXPECT_EQ(status_of({kMissing, kMissing}).status, CombinationStatus::kMissing);
  EXPECT_EQ(status_of({kUnsupported, kUnsupported}).status, CombinationStatus::kUnsupported);
  EXPECT_EQ(status_of({kPass, kUnsupported}).status, CombinationStatus::kPass);
  EXPECT_EQ(status_of({kUnsupported, kMissing}).status, CombinationStatus::kMissing);
}

TEST(Summary, GivesTheReasonOfWhatIsUnsupportedAndNamesWhatFailed) {
  using enum Verdict;
  EXPECT_EQ(status_of({kUnsupported}).reason, "needs cl_khr_fp16");
  EXPECT_EQ(status_of({kPass, kUnsupported}).reason, "");
  const CombinationReport partial = status_of({kPass, kWrong, kUnsupported});
  EXPECT_EQ(partial.failed_cases.size(), 1u);
  EXPECT_EQ(partial.passed, 1);
  EXPECT_EQ(partial.planned, 3);
}

TEST(Summary, PrefersTheFastestOfThoseWithEveryCaseRight) {
  DeviceReport device;
  summarise_device({row(kPlain, Verdict::kPass, 5), row(kHalf, Verdict::kPass, 9)}, device);
  ASSERT_TRUE(device.best);
  EXPECT_EQ(device.best->combination, kHalf);
  summarise_device(
      {row(kPlain, Verdict::kPass, 5), row(kHalf, Verdict::kPass, 9), row(kHalf, Verdict::kWrong)},
      device);
  EXPECT_EQ(device.best->combination, kPlain) << "correctness gates, speed ranks";
  EXPECT_THAT(device.best->why, testing::HasSubstr("GFLOP/s"));
}

TEST(Summary, NamesABestThatIsRightSoFarWhereNoneIsWhollyRight) {
  DeviceReport device = test::sample_device();
  summarise_device({row(kPlain, Verdict::kPass, 5), row(kPlain, Verdict::kMissing)}, device);
  ASSERT_TRUE(device.best);
  EXPECT_EQ(device.combinations.at(0).status, CombinationStatus::kPartial);
  EXPECT_THAT(device.best->why, testing::HasSubstr("1 of 2 cases"));
  summarise_device({row(kPlain, Verdict::kPass, 5), row(kHalf, Verdict::kPass, 9),
                    row(kHalf, Verdict::kMissing)},
                   device);
  EXPECT_EQ(device.best->combination, kPlain) << "what is wholly right comes first";
}

TEST(Summary, WantsARightCaseOfEachOpAndNoFailureOfABestSoFar) {
  const Combination plain{Precision::kHigh, std::nullopt, Storage::kBuffer, std::nullopt};
  DeviceReport device;
  const auto best_of = [&](const std::vector<VerdictReport>& more) {
    std::vector<VerdictReport> rows{row(kPlain, Verdict::kPass, 5), row(kPlain, Verdict::kMissing)};
    rows.insert(rows.end(), more.begin(), more.end());
    summarise_device(rows, device);
    return device.best.has_value();
  };
  EXPECT_FALSE(best_of({row(kPlain, Verdict::kMissing, 0, "gemv")}));
  EXPECT_FALSE(best_of({row(kPlain, Verdict::kWrong)}));
  EXPECT_FALSE(best_of({row(kPlain, Verdict::kNotTried)}));
  EXPECT_FALSE(best_of({row(plain, Verdict::kMissing, 0, "softmax")}));
  EXPECT_TRUE(best_of(
      {row(plain, Verdict::kPass, 0, "softmax"), row(plain, Verdict::kMissing, 0, "softmax")}));
}

TEST(Summary, NamesNoBestWhereNothingIsRight) {
  DeviceReport device = test::sample_device();
  summarise_device({row(kPlain, Verdict::kPass, 5), row(kPlain, Verdict::kWrong)}, device);
  EXPECT_FALSE(device.best);
  summarise_device({row(kPlain, Verdict::kMissing)}, device);
  EXPECT_FALSE(device.best);
  summarise_device({row(kPlain, Verdict::kUnsupported)}, device);
  EXPECT_FALSE(device.best);
  summarise_device({}, device);
  EXPECT_FALSE(device.best);
  EXPECT_TRUE(device.combinations.empty());
}

TEST(Summary, WantsTheWeightlessOpsRightAsWell) {
  const Combination plain{Precision::kHigh, std::nullopt, Storage::kBuffer, std::nullopt};
  DeviceReport device;
  summarise_device({row(kPlain, Verdict::kPass, 5), row(kHalf, Verdict::kPass, 2),
                    row(plain, Verdict::kWrong, 0, "softmax")},
                   device);
  ASSERT_TRUE(device.best);
  EXPECT_EQ(device.best->combination, kHalf);
}

TEST(Summary, DoesNotCountKernelsThatAreNeverPlanned) {
  VerdictReport foreign = row(kPlain, Verdict::kCrash);
  foreign.trial_only = true;
  DeviceReport device;
  summarise_device({row(kPlain, Verdict::kPass, 5), foreign}, device);
  EXPECT_EQ(device.combinations.at(0).status, CombinationStatus::kPass);
  EXPECT_EQ(device.combinations.at(0).planned, 1);
}

std::vector<DeviceReport> devices() {
  std::vector<DeviceReport> rows(3);
  rows[0].platform = "ARM Platform", rows[0].name = "Mali-G78";
  rows[1].platform = "ARM Platform", rows[1].name = "Mali-G78 second";
  rows[2].platform = "Portable Computing Language", rows[2].name = "cpu-haswell";
  return rows;
}

TEST(NoSuchDevice, ListsThoseThatThereAre) {
  const Error error = no_such_device(devices(), "GeForce").value();
  EXPECT_EQ(error.code, ErrorCode::kNoDevice);
  EXPECT_EQ(error.message,
            "no device matches --device 'GeForce'; there are: 0: Mali-G78, 1: Mali-G78 second, 2: "
            "cpu-haswell");
  EXPECT_EQ(no_such_device({}, "x").value().code, ErrorCode::kNoDevice);
}

std::vector<size_t> matching(const std::string& selector) {
  std::vector<size_t> found;
  for (size_t i = 0; i < 3; ++i) {
    if (device_matches(devices(), i, selector)) found.push_back(i);
  }
  return found;
}

TEST(DeviceMatches, TakesAnIndexAPlatformIndexOrAPartOfTheName) {
  using testing::ElementsAre;
  EXPECT_THAT(matching("1"), ElementsAre(1));
  EXPECT_THAT(matching("7"), ElementsAre());
  EXPECT_THAT(matching("Mali"), ElementsAre(0, 1));
  EXPECT_THAT(matching("second"), ElementsAre(1));
  EXPECT_THAT(matching("ARM:1"), ElementsAre(1));
  EXPECT_THAT(matching("Portable:0"), ElementsAre(2));
  EXPECT_THAT(matching("Portable:1"), ElementsAre());
}

}  // namespace
}  // namespace clvet
