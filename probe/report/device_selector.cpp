#include "probe/report/device_selector.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {

bool device_matches(const std::vector<DeviceReport>& devices, size_t index,
                    const std::string& selector) {
  if (all_digits(selector)) return std::to_string(index) == selector;
  const DeviceReport& device = devices[index];
  const auto colon = selector.rfind(':');
  if (colon != std::string::npos && all_digits(selector.substr(colon + 1))) {
    size_t in_platform = 0;
    for (size_t i = 0; i < index; ++i) in_platform += devices[i].platform == device.platform;
    return device.platform.find(selector.substr(0, colon)) != std::string::npos &&
           std::to_string(in_platform) == selector.substr(colon + 1);
  }
  return device.name.find(selector) != std::string::npos;
}

}  // namespace clvet
