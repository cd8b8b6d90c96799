// The environment key: under which driver, exactly, a verdict was reached.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// The variables of this process that change what drivers do (driver_variables.json, `key`).
Result<std::map<std::string, std::string>> driver_variables();
// The loader variables worth showing that are set (`shown`).
Result<std::map<std::string, std::string>> shown_variables();
// Variables that switch drivers' own caches off, or point them at `folder`.
Result<std::map<std::string, std::string>> cache_variables(const std::string& folder);

// SHA-256 over objects' identities, platform, device and driver strings, vendor id, extensions,
// limits, kernel-side driver version and variables, all sorted. Paths and times are no part of it.
std::string environment_key(const DeviceReport& device, const std::string& kernel_driver_version);

// Cheap test whether `device` of an earlier report still stands for what is installed: each object
// still has its size and time, or at least its identity, the variables are the same, and so are the
// kernel's drivers.
bool same_environment(const DeviceReport& device);

// True where the library through which a report reaches its device is one of the device's objects:
// by its path, or as the dynamic linker finds its name here. Else a report would make clvet load
// what it does not answer for.
bool library_is_listed(const DeviceReport& device);

// Both: the device is as the report says, and is reached as it says.
bool still_stands(const DeviceReport& device);

// Versions of GPU kernel drivers, by /sys/module and /proc/driver; empty where there is none.
std::string kernel_driver_versions();

}  // namespace clvet
