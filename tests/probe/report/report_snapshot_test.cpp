#include "probe/report/report_snapshot.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

constexpr FileState kState{1, 2, 3, 4, 5};

// As a reader of JSON makes it.
Report sample() {
  Report report = *report_from_json(report_to_json(test::sample_report()), "board.json");
  report.verdicts[1].evidence.error = ErrorEvidence{0.5, 2, 0.25, 7, WrongValue::kZero};
  report.verdicts[1].trial_only = true;
  report.verdicts[1].constructs = {"barrier", "local_memory"};
  report.verdicts[1].median_ms = 1.5;
  return report;
}

TEST(ReportSnapshot, HoldsAllThatTheReportHolds) {
  const Report report = sample();
  const auto read = report_of_snapshot(snapshot_of(report, kState), kState);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_to_json(*read), report_to_json(report));
  ASSERT_EQ(read->verdicts.size(), report.verdicts.size());
  EXPECT_TRUE(read->verdicts[1].trial_only);
  EXPECT_EQ(read->verdicts[1].evidence.error->first_bad, 7);
  EXPECT_EQ(read->verdicts[0].evidence.exit_status, report.verdicts[0].evidence.exit_status);
}

TEST(ReportSnapshot, OfAReportWithoutVerdictsComesBackToo) {
  Report report = sample();
  report.verdicts.clear();
  const auto read = report_of_snapshot(snapshot_of(report, kState), kState);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_to_json(*read), report_to_json(report));
}

TEST(ReportSnapshot, IsOfOneStateOfItsFile) {
  const std::string text = snapshot_of(sample(), kState);
  for (const FileState& other :
       {FileState{9, 2, 3, 4, 5}, FileState{1, 9, 3, 4, 5}, FileState{1, 2, 9, 4, 5},
        FileState{1, 2, 3, 9, 5}, FileState{1, 2, 3, 4, 9}}) {
    EXPECT_FALSE(report_of_snapshot(text, other));
  }
}

TEST(ReportSnapshot, IsRefusedWhereItEndsEarlyOrGoesOn) {
  const std::string text = snapshot_of(sample(), kState);
  for (size_t size = 0; size < text.size(); size += 7)
    EXPECT_FALSE(report_of_snapshot(text.substr(0, size), kState)) << size;
  EXPECT_FALSE(report_of_snapshot(text + "x", kState));
}

TEST(ReportSnapshot, IsRefusedWithAByteChanged) {
  const std::string text = snapshot_of(sample(), kState);
  for (size_t i = 0; i < text.size(); i += 7) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_FALSE(report_of_snapshot(changed, kState)) << i;
  }
}

}  // namespace
}  // namespace clvet
