#include "probe/trial/peaks.h"
#include "base/json.h"  // IWYU pragma: keep

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

using Json = nlohmann::json;

std::vector<std::string> asked(const DeviceReport& device) {
  std::vector<std::string> words;
  for (const Json& request : peak_requests(device)) words.push_back(request.at("what"));
  return words;
}

int64_t bytes_of(const DeviceReport& device, size_t request) {
  return peak_requests(device).at(request).at("bytes");
}

TEST(PeakRequests, AreMadeOnlyWhereTheCanaryIsRightAndMapsOnlyWhereTheyAre) {
  DeviceReport device = test::sample_device();
  EXPECT_THAT(asked(device), testing::ElementsAre("launches", "transfers", "stream"));
  device.capabilities["map_read"].verdict = CapabilityVerdict::kTrue;
  EXPECT_THAT(asked(device), testing::ElementsAre("launches", "transfers", "stream", "maps"));
  device.capabilities["canary"].verdict = CapabilityVerdict::kWrong;
  EXPECT_THAT(asked(device), testing::IsEmpty());
  EXPECT_THAT(asked(DeviceReport{}), testing::IsEmpty());
}

TEST(PeakRequests, TakeASmallPartOfASmallDevicesMemory) {
  DeviceReport device = test::sample_device();
  EXPECT_EQ(bytes_of(device, 1), 8 << 20);
  EXPECT_EQ(bytes_of(device, 2), 32 << 20);
  device.properties["CL_DEVICE_GLOBAL_MEM_SIZE"] = {"67108864", 0};
  EXPECT_EQ(bytes_of(device, 1), 4 << 20);
  EXPECT_EQ(bytes_of(device, 2), 4 << 20);
  device.properties["CL_DEVICE_MAX_MEM_ALLOC_SIZE"] = {"3000001", 0};
  EXPECT_EQ(bytes_of(device, 2), 366 * 4096);
  device.properties["CL_DEVICE_GLOBAL_MEM_SIZE"] = {"1", 0};
  EXPECT_EQ(bytes_of(device, 2), 4096);
}

TEST(TakePeaks, KeepsWhatIsPlausibleAndWhatWasFoundBefore) {
  PeaksReport peaks;
  take_peaks({{"launch_us", 20.5}, {"piped_launch_us", 3}}, peaks);
  take_peaks({{"map_us", 7.0}, {"verdict", "launch-error"}}, peaks);
  EXPECT_EQ(peaks.launch_us, 20.5);
  EXPECT_EQ(peaks.piped_launch_us, 3.0);
  EXPECT_EQ(peaks.map_us, 7.0);
  EXPECT_EQ(peaks.read_gbs, std::nullopt);
}

TEST(TakePeaks, LeavesOutWhatNoDeviceCanHave) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Json& absurd : {Json(0), Json(0.0), Json(-5.5), Json(std::nan("")), Json(infinity),
                             Json(-infinity), Json(1e300), Json(5e-324), Json("12"), Json(nullptr),
                             Json(true), Json::array({1}), Json{{"us", 1}}}) {
    PeaksReport peaks;
    take_peaks({{"launch_us", absurd},
                {"piped_launch_us", absurd},
                {"read_us", absurd},
                {"read_gbs", absurd},
                {"write_us", absurd},
                {"write_gbs", absurd},
                {"map_us", absurd},
                {"bandwidth_gbs", absurd}},
               peaks);
    for (const auto& value : {peaks.launch_us, peaks.piped_launch_us, peaks.read_us, peaks.read_gbs,
                              peaks.write_us, peaks.write_gbs, peaks.map_us, peaks.bandwidth_gbs}) {
      EXPECT_EQ(value, std::nullopt) << absurd.dump();
    }
  }
  PeaksReport peaks;
  take_peaks(Json::array(), peaks);
  EXPECT_EQ(peaks.launch_us, std::nullopt);
}

}  // namespace
}  // namespace clvet
