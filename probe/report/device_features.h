// What of a device decides which variants it can be asked to run, taken from its report. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/catalog.h"
#include "probe/report/report.h"

namespace clvet {

// What of a device decides which combinations are legal, taken from its report.
struct DeviceFeatures {
  std::string device_class;  // "cpu" or "gpu" (everything else counts as gpu)
  bool fp16 = false;         // cl_khr_fp16 advertised
  bool images = false;
  int64_t image_width = 0, image_height = 0;  // limits, texels
  int64_t group_items = 0;                    // of a work-group at most; 0: not advertised
  int64_t local_bytes = 0;                    // of a work-group at most; 0: not advertised
  std::vector<std::string> names;             // of the features in Manifest::require
  int64_t memory = 0, largest_buffer = 0;     // limits, bytes; 0: not known
  bool own_memory = false;                    // which the host does not work in
  int64_t compute_units = 0, clock_mhz = 0;   // 0: not known
};
DeviceFeatures features_of(const DeviceReport& device);
// Bytes that trials may give to copies of their weights, so that launches find them in no cache: a
// sixteenth of a GPU's memory. A processor's kernels are timed with what its caches hold.
uint64_t room_for_copies(const DeviceReport& device);

// Activations or weights of `variant` lie in images.
bool wants_images(const Variant& variant);

// Why `variant` cannot be tried there at all; empty where it can. Names what is not advertised.
std::string unsupported_reason(const Variant& variant, const DeviceFeatures& features);

}  // namespace clvet
