#include "tests/runtime/reports.h"

#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"

namespace clvet::test {

DeviceReport device_with(const Limits& limits) {
  DeviceReport device;
  device.id = "d0";
  device.name = "Board";
  device.type = "gpu";
  device.properties = {{"CL_DEVICE_GLOBAL_MEM_SIZE", {limits.memory, 0}},
                       {"CL_DEVICE_MAX_MEM_ALLOC_SIZE", {limits.largest, 0}},
                       {"CL_DEVICE_IMAGE_SUPPORT", {"true", 0}},
                       {"CL_DEVICE_IMAGE2D_MAX_WIDTH", {limits.image_width, 0}},
                       {"CL_DEVICE_IMAGE2D_MAX_HEIGHT", {"16384", 0}}};
  if (!limits.unified.empty())
    device.properties["CL_DEVICE_HOST_UNIFIED_MEMORY"] = {limits.unified, 0};
  return device;
}

Verdict all_pass(const Variant&) { return Verdict::kPass; }

Report report_of(const DeviceReport& device, const Judge& judge) {
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

Result<Report> read_report(const std::string& file) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(file));
  return report_from_json(text, file);
}

}  // namespace clvet::test
