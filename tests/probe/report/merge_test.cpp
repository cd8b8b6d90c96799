// A probe that did not get far keeps what an earlier report knows.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/merge.h"
#include "probe/report/report.h"
#include "probe/report/summary.h"

namespace clvet {
namespace {

constexpr Combination kPlain{Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
const DeviceStands kStands = [](const DeviceReport&) { return true; };
const DeviceStands kGone = [](const DeviceReport&) { return false; };

void add_device(const std::string& name, const std::vector<Verdict>& verdicts, Report& report) {
  DeviceReport device;
  device.id = "d" + std::to_string(report.devices.size());
  device.name = name;
  device.library = "/lib/" + name + ".so";
  device.environment_key = "key of " + name;
  std::vector<VerdictReport> rows;
  for (const Verdict verdict : verdicts) {
    VerdictReport row;
    row.op = "gemm";
    row.case_name = "gemm/" + std::to_string(rows.size());
    row.device = device.id;
    row.id = device.id + "/" + row.case_name;
    row.variant_key = "variant";
    row.combination = kPlain;
    row.verdict = verdict;
    rows.push_back(row);
  }
  summarise_device(rows, device);
  report.devices.push_back(device);
  report.verdicts.insert(report.verdicts.end(), rows.begin(), rows.end());
  for (const VerdictReport& row : rows) ++report.run.counts[to_string(row.verdict)];
}

Report report_of(const std::string& name, const std::vector<Verdict>& verdicts,
                 bool complete = true) {
  Report report;
  report.kernel_set = "kernels";
  report.complete = complete;
  add_device(name, verdicts, report);
  return report;
}

std::vector<Verdict> words(const Report& report) {
  std::vector<Verdict> found;
  for (const VerdictReport& row : report.verdicts) found.push_back(row.verdict);
  return found;
}

TEST(AddKnown, FillsWhatAProbeDidNotReach) {
  using enum Verdict;
  const Report known = report_of("mali", {kPass, kPass, kWrong});
  Report found = report_of("mali", {kCrash, kMissing, kMissing}, false);
  EXPECT_TRUE(add_known(known, true, kStands, found));
  EXPECT_THAT(words(found), testing::ElementsAre(kCrash, kPass, kWrong));
  EXPECT_EQ(found.devices.size(), 1u);
  EXPECT_EQ(found.devices[0].combinations.at(0).passed, 1);
  EXPECT_EQ(found.run.counts.at("pass"), 1);
  EXPECT_FALSE(found.run.counts.contains("missing"));
  EXPECT_TRUE(found.complete);
}

TEST(AddKnown, KeepsDevicesThatANarrowProbeWasNotToTry) {
  using enum Verdict;
  Report known = report_of("mali", {kPass});
  add_device("pocl", {kPass, kWrong}, known);
  Report found = report_of("pocl", {kCrash, kPass});
  EXPECT_TRUE(add_known(known, true, kStands, found));
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[1].name, "mali");
  EXPECT_EQ(found.devices[1].id, "d1");
  EXPECT_EQ(found.verdicts.back().id, "d1/gemm/0");
  EXPECT_THAT(words(found), testing::ElementsAre(kCrash, kPass, kPass));
}

TEST(AddKnown, ForgetsDevicesThatAreGoneOrHaveAnotherDriver) {
  using enum Verdict;
  const Report known = report_of("mali", {kPass});
  Report found = report_of("pocl", {kPass});
  EXPECT_FALSE(add_known(known, true, kGone, found));
  EXPECT_FALSE(add_known(known, false, kStands, found)) << "a probe of all would have found it";
  EXPECT_EQ(found.devices.size(), 1u);
}

TEST(AddKnown, TakesTheOldDeviceWhereTheNewOneWasNotEvenOpened) {
  using enum Verdict;
  const Report known = report_of("mali", {kPass, kPass});
  Report found = report_of("mali", {kMissing, kMissing}, false);
  found.devices[0].environment_key = "of a device that was not opened";
  EXPECT_TRUE(add_known(known, true, kStands, found));
  EXPECT_EQ(found.devices.size(), 1u);
  EXPECT_EQ(found.devices[0].environment_key, "key of mali");
  EXPECT_THAT(words(found), testing::ElementsAre(kPass, kPass));
}

TEST(AddKnown, TakesNothingOfOtherKernelsOrOfAPartOfATier) {
  using enum Verdict;
  const Report missing = report_of("mali", {kMissing}, false);
  Report known = report_of("mali", {kPass});
  known.kernel_set = "others";
  Report found = missing;
  EXPECT_FALSE(add_known(known, true, kStands, found));
  known = report_of("mali", {kPass});
  found.run.only_cases = {"gemm"};
  EXPECT_FALSE(add_known(known, true, kStands, found));
}

}  // namespace
}  // namespace clvet
