#include "runtime/exec/device.h"

#include <gmock/gmock.h>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/flight.h"
#include "tests/runtime/fake/fake_board.h"

namespace clvet {
namespace {

constexpr char kBoard[] =
    R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"}, "rules": []})";

TEST(DeviceOpen, TakesTheDriverWhoseFilesTheReportNames) {
  const test::FakeBoard board(kBoard);
  DeviceReport report = board.device();
  report.objects = {{report.library, "id", 1, 1}};
  Flight flight;
  const auto device = Device::open(report, flight);
  EXPECT_TRUE(device) << device.error().message;
}

// The strings may be the same: a loader leads where the environment says.
TEST(DeviceOpen, RefusesADriverWhoseFilesTheReportDoesNotName) {
  const test::FakeBoard board(kBoard);
  DeviceReport report = board.device();
  report.objects = {{"/usr/lib/libmali.so", "id", 1, 1}};
  Flight flight;
  const auto device = Device::open(report, flight);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(device.error().message,
              testing::AllOf(testing::HasSubstr(report.library),
                             testing::HasSubstr("did not load for the report")));
}

// They say the same of themselves, and only one of them was probed and found right.
TEST(DeviceOpen, TakesOfTwoEqualDevicesTheOneThatWasTried) {
  const test::FakeBoard board(
      R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1", "broken_twin": 0},
          "rules": []})");
  DeviceReport report = board.device();
  Flight flight;
  EXPECT_FALSE(Device::open(report, flight)) << "the broken one";
  report.ordinal = 1;
  const auto device = Device::open(report, flight);
  EXPECT_TRUE(device) << device.error().message;
  report.ordinal = 2;
  EXPECT_FALSE(Device::open(report, flight)) << "there are two";
}

}  // namespace
}  // namespace clvet
