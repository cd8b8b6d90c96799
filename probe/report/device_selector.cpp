#include "probe/report/device_selector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
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

tl::unexpected<Error> no_such_device(const std::vector<DeviceReport>& devices,
                                     const std::string& selector) {
  std::vector<std::string> names;
  for (size_t i = 0; i < devices.size(); ++i) {
    names.push_back(fmt::format("{}: {}", i, devices[i].name));
  }
  if (names.empty()) {
    return fail(ErrorCode::kNoDevice, "no device matches --device '{}'; there is none", selector);
  }
  return fail(ErrorCode::kNoDevice, "no device matches --device '{}'; there are: {}", selector,
              fmt::join(names, ", "));
}

}  // namespace clvet
