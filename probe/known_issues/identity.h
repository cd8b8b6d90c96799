// Who a device is: whose driver, which GPU, which release. Pure; the strings are a driver's and may
// be anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

// What a device and its board say of themselves; any part may be empty.
struct DeviceFacts {
  std::string platform, name, vendor, driver, version, type;  // version: CL_DEVICE_VERSION
  uint32_t vendor_id = 0;
  std::vector<std::string> extensions;
  std::string board, soc, os, kernel;
};

DeviceFacts facts_of(const DeviceReport& device, const HostReport& host);

// A version in its maker's own scheme: r26p0, E031.38.11.14, 1.15@6133110, 22.3.6.
struct DriverVersion {
  std::string series;  // "r" and "g" of Mali, "E031" of Adreno; else empty
  std::vector<int64_t> parts;
};

std::optional<DriverVersion> parse_version(std::string_view text);
// Below, at or above zero; nullopt where the series differ, since these have no common order.
std::optional<int> compare(const DriverVersion& a, const DriverVersion& b);

struct DeviceIdentity {
  std::string stack;  // whose driver: mali adreno powervr vivante intel-gpu intel-cpu nvidia amd
                      // apple pocl oclgrind rusticl clover clvk beignet maleoon; else empty
  std::string model;  // G610, 740, GE8320; empty where the name says none
  std::string generation;  // midgard bifrost valhall 5th-gen, a7xx, GE8, gen11; else empty
  std::optional<DriverVersion> release;  // the driver's
  std::optional<DriverVersion> cl;       // OpenCL version; none: no OpenCL device
};

DeviceIdentity identify(const DeviceFacts& facts);

struct MaliProduct {
  const char *model, *generation;
};
// The product behind a Mali GPU_ID (CL_DEVICE_VENDOR_ID, gpuinfo and the driver's messages hold
// it).
std::optional<MaliProduct> mali_product(uint32_t gpu_id);

}  // namespace clvet
