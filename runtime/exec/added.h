// What a fused call adds to a buffer, which may hold far larger values: the device's and the host's
// sums, seen without what was there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace clvet {

struct Added {
  std::vector<float> device, host;
  // All of one length; `to` is what both added to, `half` says how the device stores its sums. Two
  // that are neighbours in storage do not differ.
  Added(std::span<const float> of_device, std::span<const float> of_host, std::span<const float> to,
        bool half) {
    const float step = half ? 0x1p-10f : 0x1p-23f;
    for (size_t i = 0; i < of_host.size(); ++i) {
      const float difference = of_device[i] - of_host[i];
      const float apart = std::max(std::fabs(difference) - std::fabs(of_host[i]) * step, 0.f);
      host.push_back(of_host[i] - to[i]);
      device.push_back(host.back() + std::copysign(apart, difference));
    }
  }
};

}  // namespace clvet
