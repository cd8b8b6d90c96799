// Reports of devices: limits, and a verdict on every kernel.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"

namespace clvet::test {

struct Limits {
  std::string memory = "1000000000", largest = "500000000", image_width = "16384";
};

inline DeviceReport device_with(const Limits& limits = {}) {
  DeviceReport device;
  device.id = "d0";
  device.name = "Board";
  device.type = "gpu";
  device.properties = {{"CL_DEVICE_GLOBAL_MEM_SIZE", {limits.memory, 0}},
                       {"CL_DEVICE_MAX_MEM_ALLOC_SIZE", {limits.largest, 0}},
                       {"CL_DEVICE_IMAGE_SUPPORT", {"true", 0}},
                       {"CL_DEVICE_IMAGE2D_MAX_WIDTH", {limits.image_width, 0}},
                       {"CL_DEVICE_IMAGE2D_MAX_HEIGHT", {"16384", 0}}};
  return device;
}

using Judge = std::function<Verdict(const Variant&)>;
inline Verdict all_pass(const Variant&) { return Verdict::kPass; }

// What `judge` says of each kernel that the device could run; "unsupported" of the others.
inline Report report_of(const DeviceReport& device, const Judge& judge = all_pass) {
  Report report;
  report.kernel_set = kernel_set();
  report.devices = {device};
  const DeviceFeatures features = features_of(device);
  const Catalog catalog = *Catalog::embedded();
  for (const Manifest& manifest : catalog.manifests()) {
    for (const Variant& variant : variants_of(manifest)) {
      VerdictReport row;
      row.device = device.id;
      row.variant_key = program_of(variant)->variant_key;
      const bool able = unsupported_reason(variant, features).empty();
      row.verdict = able ? judge(variant) : Verdict::kUnsupported;
      if (row.verdict != Verdict::kMissing) report.verdicts.push_back(std::move(row));
    }
  }
  return report;
}

}  // namespace clvet::test
