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

}  // namespace
}  // namespace clvet
