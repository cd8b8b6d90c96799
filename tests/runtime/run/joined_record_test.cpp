// The record of a network that ran in two parts.
#include "runtime/run/joined_record.h"

#include <gmock/gmock.h>

#include <string>

#include "kernels/combination.h"
#include "runtime/plan/plan.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/run_record.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

RunRecord part(const std::string& device, const std::string& node, Place place,
               Precision precision) {
  RunRecord record;
  record.device = device;
  record.combination.precision = precision;
  record.not_best = device;
  record.nodes = {{node, "MatMul", place}};
  record.plan_ms = 2;
  record.first_ms = 10;
  record.programs = {3, 4};
  record.fallbacks = {{"*", "kernel", "host", "wrong"}};
  return record;
}

TEST(JoinedRecord, HasTheNodesOfBothAndAFallbackOfBothOnce) {
  const RunRecord whole = joined(part("Board", "a", Place::kDevice, Precision::kLow),
                                 part("Board", "b", Place::kHost, Precision::kHigh));
  EXPECT_THAT(whole.nodes,
              ElementsAre(Field(&NodeRecord::name, "a"), Field(&NodeRecord::name, "b")));
  EXPECT_EQ(whole.fallbacks.size(), 1u);
  EXPECT_EQ(whole.device, "Board");
  EXPECT_EQ(whole.plan_ms, 4);
  EXPECT_EQ(whole.first_ms, 20);
  EXPECT_EQ(whole.programs.compiled, 6);
  EXPECT_EQ(whole.programs.loaded, 8);
}

TEST(JoinedRecord, IsOfTheDeviceAndTheCombinationThatHaveMoreNodes) {
  const RunRecord behind = joined(part("host", "a", Place::kHost, Precision::kHigh),
                                  part("Board", "b", Place::kDevice, Precision::kLow));
  EXPECT_EQ(behind.device, "Board");
  EXPECT_EQ(behind.combination.precision, Precision::kLow);
  EXPECT_EQ(behind.not_best, "Board");
  const RunRecord before = joined(part("Board", "a", Place::kDevice, Precision::kLow),
                                  part("host", "b", Place::kHost, Precision::kHigh));
  EXPECT_EQ(before.device, "Board");
  EXPECT_EQ(before.combination.precision, Precision::kLow);
}

TEST(JoinedRecord, NamesBothOfTwoDevices) {
  EXPECT_EQ(joined(part("Board", "a", Place::kDevice, Precision::kLow),
                   part("Card", "b", Place::kDevice, Precision::kLow))
                .device,
            "Board, Card");
}

TEST(JoinedRecord, AddsUpWhatWasMeasuredOfBoth) {
  RunRecord first = part("Board", "a", Place::kDevice, Precision::kLow);
  RunRecord rest = first;
  rest.choice = MeasuredTimes{1, 2};
  EXPECT_EQ(joined(first, rest).choice->device_ms, 1);
  first.choice = MeasuredTimes{10, 20};
  EXPECT_EQ(joined(first, rest).choice->device_ms, 11);
  EXPECT_EQ(joined(first, rest).choice->host_ms, 22);
}

}  // namespace
}  // namespace clvet
