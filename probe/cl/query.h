// OpenCL queries that trust neither the size nor the text which a driver returns.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/report/report.h"

namespace clvet {

// Largest answer that is read; a larger claimed size is an error of the driver.
inline constexpr size_t kMaxQueryBytes = 1 << 20;

// Every property of properties.inc, printed by its kind, each with the code its query returned.
std::map<std::string, PropertyValue> query_device(const ClApi& api, cl_device_id device);
// A text property of a platform; empty where the query fails.
std::string platform_text(const ClApi& api, cl_platform_id platform, cl_platform_info what);
std::string device_text(const ClApi& api, cl_device_id device, cl_device_info what);

// Platforms and devices, with the count asked for first (a driver is known to hang otherwise). The
// code is CL_SUCCESS also where there are none.
cl_int list_platforms(const ClApi& api, std::vector<cl_platform_id>& platforms);
cl_int list_devices(const ClApi& api, cl_platform_id platform, std::vector<cl_device_id>& devices);

// At most kMaxQueryBytes of a program's build log; `claimed` is the size that the driver named.
std::string build_log(const ClApi& api, cl_program program, cl_device_id device, size_t& claimed);

// The driver's binary of a program that was built for one device; at most `most` bytes.
// kUnsupported: the driver gives no binary, or writes more than the size that it stated (a guard of
// 1 MiB behind the buffer takes what it writes too much). kDeviceError: a call failed.
Result<std::vector<std::byte>> program_binary(const ClApi& api, cl_program program, size_t most);

}  // namespace clvet
