#include "probe/trial/peaks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

constexpr int64_t kTransfer = 8 << 20, kStream = 32 << 20;
constexpr int64_t kPage = 4096;

struct Believed {
  const char* name;
  std::optional<double> PeaksReport::*value;
  double least, most;
};

// From a nanosecond to a minute, and from a kilobyte to a hundred terabytes a second.
constexpr double kLeastUs = 1e-3, kMostUs = 6e7, kLeastGbs = 1e-6, kMostGbs = 1e5;
constexpr std::array kBelieved{
    Believed{"launch_us", &PeaksReport::launch_us, kLeastUs, kMostUs},
    Believed{"piped_launch_us", &PeaksReport::piped_launch_us, kLeastUs, kMostUs},
    Believed{"read_us", &PeaksReport::read_us, kLeastUs, kMostUs},
    Believed{"read_gbs", &PeaksReport::read_gbs, kLeastGbs, kMostGbs},
    Believed{"write_us", &PeaksReport::write_us, kLeastUs, kMostUs},
    Believed{"write_gbs", &PeaksReport::write_gbs, kLeastGbs, kMostGbs},
    Believed{"map_us", &PeaksReport::map_us, kLeastUs, kMostUs},
    Believed{"bandwidth_gbs", &PeaksReport::bandwidth_gbs, kLeastGbs, kMostGbs}};

// A small part of a small device's memory, in whole pages.
int64_t fitting(const DeviceFeatures& features, int64_t wanted) {
  if (features.largest_buffer > 0) wanted = std::min(wanted, features.largest_buffer / 2);
  if (features.memory > 0) wanted = std::min(wanted, features.memory / 16);
  return std::max(wanted / kPage * kPage, kPage);
}

}  // namespace

std::vector<nlohmann::json> peak_requests(const DeviceReport& device) {
  if (!shows_true(device, "canary")) return {};
  const DeviceFeatures features = features_of(device);
  std::vector<nlohmann::json> requests{
      {{"do", "peaks"}, {"what", "launches"}},
      {{"do", "peaks"}, {"what", "transfers"}, {"bytes", fitting(features, kTransfer)}},
      {{"do", "peaks"}, {"what", "stream"}, {"bytes", fitting(features, kStream)}}};
  if (shows_true(device, "map_read")) requests.push_back({{"do", "peaks"}, {"what", "maps"}});
  return requests;
}

void take_peaks(const nlohmann::json& reply, PeaksReport& peaks) {
  for (const Believed& row : kBelieved) {
    // A comparison with NaN is false.
    const double value = number_in(reply, row.name);
    if (value >= row.least && value <= row.most) peaks.*row.value = value;
  }
}

}  // namespace clvet
