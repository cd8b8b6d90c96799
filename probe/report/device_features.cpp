#include "probe/report/device_features.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

int64_t number_of(const DeviceReport& device, const char* name) {
  const auto found = device.properties.find(name);
  return found == device.properties.end() ? 0 : std::atoll(found->second.value.c_str());
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of a work-group, as its first test shape has it: no manifest lets it depend on the call. 0: the
// driver chooses.
size_t group_items(const Variant& variant) {
  const TestShape& shape = variant.manifest->tests.front();
  const auto call = make_call(variant, shape.dims, shape.scalars);
  return call ? call->local[0] * std::max<size_t>(call->local[1], 1) *
                    std::max<size_t>(call->local[2], 1)
              : 0;
}

}  // namespace

DeviceFeatures features_of(const DeviceReport& device) {
  DeviceFeatures features;
  features.device_class = is_processor(device) ? "cpu" : "gpu";
  features.fp16 = has(device.extensions, "cl_khr_fp16");
  const auto images = device.properties.find("CL_DEVICE_IMAGE_SUPPORT");
  features.images = images != device.properties.end() && images->second.value == "true";
  features.image_width = number_of(device, "CL_DEVICE_IMAGE2D_MAX_WIDTH");
  features.image_height = number_of(device, "CL_DEVICE_IMAGE2D_MAX_HEIGHT");
  features.group_items = number_of(device, "CL_DEVICE_MAX_WORK_GROUP_SIZE");
  features.local_bytes = number_of(device, "CL_DEVICE_LOCAL_MEM_SIZE");
  features.memory = number_of(device, "CL_DEVICE_GLOBAL_MEM_SIZE");
  features.largest_buffer = number_of(device, "CL_DEVICE_MAX_MEM_ALLOC_SIZE");
  const auto unified = device.properties.find("CL_DEVICE_HOST_UNIFIED_MEMORY");
  features.own_memory = unified != device.properties.end() && unified->second.value == "false";
  features.compute_units = number_of(device, "CL_DEVICE_MAX_COMPUTE_UNITS");
  features.clock_mhz = number_of(device, "CL_DEVICE_MAX_CLOCK_FREQUENCY");
  if (features.fp16) features.names.emplace_back("fp16");
  if (has(device.extensions, "cl_khr_subgroups")) features.names.emplace_back("subgroups");
  if (has(device.extensions, "cl_khr_integer_dot_product")) features.names.emplace_back("dot8");
  // PTX: mma.m16n8k32 of whole numbers needs compute capability 8.0.
  if (number_of(device, "CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV") >= 8) {
    features.names.emplace_back("mma_s8");
  }
  return features;
}

uint64_t room_for_copies(const DeviceReport& device) {
  if (is_processor(device)) return 0;
  return static_cast<uint64_t>(
      std::max<int64_t>(number_of(device, "CL_DEVICE_GLOBAL_MEM_SIZE"), 0) / 16);
}

bool wants_images(const Variant& variant) {
  return variant.activations == Storage::kImage || variant.weights == Storage::kImage;
}

std::string unsupported_reason(const Variant& variant, const DeviceFeatures& features) {
  if (variant.precision == Precision::kLow && !features.fp16) {
    return "precision low needs cl_khr_fp16, which the device does not advertise";
  }
  if (wants_images(variant) && !features.images) {
    return "image storage needs CL_DEVICE_IMAGE_SUPPORT, which the device does not advertise";
  }
  for (const std::string& need : variant.manifest->require) {
    if (!has(features.names, need)) return fmt::format("the device does not advertise {}", need);
  }
  const auto items = static_cast<int64_t>(group_items(variant));
  if (features.group_items > 0 && items > features.group_items) {
    return fmt::format("its groups of {} items exceed the device's {}", items,
                       features.group_items);
  }
  const int64_t at_once = variant.manifest->at_once;
  if (features.compute_units > 0 && at_once > features.compute_units) {
    return fmt::format(
        "{} of its groups must run at once, each on a compute unit, but the device has {}", at_once,
        features.compute_units);
  }
  const int64_t local = variant.manifest->local_bytes;
  if (features.local_bytes > 0 && local > features.local_bytes) {
    return fmt::format("its {} bytes of local memory exceed the device's {}", local,
                       features.local_bytes);
  }
  return {};
}

}  // namespace clvet
