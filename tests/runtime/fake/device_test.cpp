#include "runtime/exec/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
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

// Memory of the driver's lies between where the device has its own.
struct NullMaps {
  const char *name, *count;  // of the maps that are null
};
class Transfers : public testing::TestWithParam<NullMaps> {
 protected:
  std::unique_ptr<Device> open(const test::FakeBoard& board) {
    DeviceReport report = board.device();
    report.properties["CL_DEVICE_HOST_UNIFIED_MEMORY"].value = "false";
    report.capabilities[kMapReads].verdict = CapabilityVerdict::kTrue;
    report.peaks.map_us = 20;
    report.peaks.read_us = 10;
    auto device = Device::open(report, flight_);
    EXPECT_TRUE(device) << device.error().message;
    return device ? std::move(*device) : nullptr;
  }
  Flight flight_;
};

TEST_P(Transfers, BringBytesThereAndBackHoweverManyThereAre) {
  const test::FakeBoard board(fmt::format(
      R"({{"device": {{"platform_name": "Boards", "name": "Board", "driver_version": "1"}}, "rules": [
          {{"match": {{"call": "clEnqueueMapBuffer", {}}}, "do": {{"action": "null_success"}}}}]}})",
      GetParam().count));
  const auto device = open(board);
  ASSERT_TRUE(device);
  for (const size_t bytes : {1, 1023, 1024, 40000, 1 << 20, (1 << 20) + 1, 5 << 20, 17 << 20}) {
    std::vector<ClMem> buffers;
    for (int i = 0; i < 5; ++i) {
      auto buffer = device->buffer(bytes);
      ASSERT_TRUE(buffer);
      const Bytes written(bytes, std::byte(i + 1));
      EXPECT_TRUE(device->upload(buffer->get(), written));
      buffers.push_back(std::move(*buffer));
    }
    for (int i = 0; i < 5; ++i) {
      Bytes back(bytes);
      EXPECT_TRUE(device->read(buffers[static_cast<size_t>(i)].get(), back));
      EXPECT_EQ(back, Bytes(bytes, std::byte(i + 1))) << bytes;
    }
  }
}

constexpr NullMaps kNullMaps[] = {{"right", R"("count": {"from": 1000, "to": 1000})"},
                                  {"null", R"("count": 1)"},
                                  {"null_later", R"("count": {"from": 2, "to": 99})"}};
INSTANTIATE_TEST_SUITE_P(Maps, Transfers, testing::ValuesIn(kNullMaps),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace clvet
