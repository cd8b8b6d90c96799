#include "probe/host/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/data/embedded_json.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/report/report.h"

extern char** environ;

namespace clvet {
namespace {

using Variables = std::map<std::string, std::string>;

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

Result<Variables> chosen_variables(const char* list) {
  CLVET_ASSIGN_OR_RETURN(nlohmann::json data, embedded_json("cl/driver_variables.json"));
  Variables chosen;
  for (char** row = environ; *row; ++row) {
    const std::string_view text(*row);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    for (const auto& pattern : data.at(list)) {
      if (!matches(name, pattern.get<std::string>())) continue;
      chosen[clean_utf8(name)] = clean_utf8(text.substr(equals + 1));
    }
  }
  return chosen;
}

// Limits and identity that a driver update or a setting may change.
constexpr const char* kKeyProperties[] = {
    "CL_DEVICE_VENDOR_ID",         "CL_DEVICE_MAX_COMPUTE_UNITS",  "CL_DEVICE_MAX_WORK_GROUP_SIZE",
    "CL_DEVICE_LOCAL_MEM_SIZE",    "CL_DEVICE_MAX_MEM_ALLOC_SIZE", "CL_DEVICE_IMAGE_SUPPORT",
    "CL_DEVICE_IMAGE2D_MAX_WIDTH", "CL_DEVICE_IMAGE2D_MAX_HEIGHT", "CL_DEVICE_ADDRESS_BITS",
    "CL_DEVICE_OPENCL_C_VERSION"};

bool same_object(const DriverObject& object) {
  struct stat info {};
  if (::stat(object.path.c_str(), &info) != 0) return false;
  const int64_t mtime = nanoseconds(info.st_mtim);
  if (static_cast<uint64_t>(info.st_size) == object.size && mtime == object.mtime_ns) return true;
  const auto identity = file_identity(object.path);
  return identity && *identity == object.identity;
}

}  // namespace

Result<Variables> driver_variables() { return chosen_variables("key"); }
Result<Variables> shown_variables() { return chosen_variables("shown"); }

Result<Variables> cache_variables(const std::string& folder) {
  CLVET_ASSIGN_OR_RETURN(nlohmann::json data, embedded_json("cl/driver_variables.json"));
  Variables variables;
  for (const auto& [name, value] : data.at("caches").items()) {
    const auto text = value.get<std::string>();
    variables[name] = text == "{dir}" ? folder : text;
  }
  return variables;
}

std::string environment_key(const DeviceReport& device, const std::string& kernel_driver_version) {
  std::vector<std::string> identities;
  for (const DriverObject& object : device.objects) identities.push_back(object.identity);
  std::sort(identities.begin(), identities.end());
  std::vector<std::string> extensions = device.extensions;
  std::sort(extensions.begin(), extensions.end());
  Sha256 hash;
  for (const std::string& text : identities) hash.add_field(text);
  hash.add_field("|");
  for (const std::string* text : {&device.platform, &device.name, &device.vendor, &device.driver,
                                  &device.device_version, &device.type, &kernel_driver_version}) {
    hash.add_field(*text);
  }
  for (const char* name : kKeyProperties) {
    const auto found = device.properties.find(name);
    hash.add_field(found == device.properties.end() ? "?" : found->second.value);
  }
  for (const std::string& text : extensions) hash.add_field(text);
  for (const auto& [name, value] : device.variables) hash.add_field(name).add_field(value);
  if (device.ordinal > 0) hash.add_field(std::to_string(device.ordinal));
  return hash.hex();
}

bool same_environment(const DeviceReport& device) {
  const auto variables = driver_variables();
  return variables && *variables == device.variables &&
         std::all_of(device.objects.begin(), device.objects.end(), same_object) &&
         environment_key(device, kernel_driver_versions()) == device.environment_key;
}

bool library_is_listed(const DeviceReport& device) {
  const auto view = view_of("");
  const LinkerSetting setting{System::kLinux, own_abi(), own_variables(), conf_folders(*view)};
  const bool is_path = device.library.find('/') != std::string::npos;
  const std::string path =
      is_path ? device.library : open_library(*view, setting, device.library).path;
  const auto real = resolve(*view, path);
  return real && std::any_of(device.objects.begin(), device.objects.end(),
                             [&](const DriverObject& row) { return row.path == *real; });
}

bool still_stands(const DeviceReport& device) {
  return same_environment(device) && library_is_listed(device);
}

std::string kernel_driver_versions() {
  std::string versions;
  for (const char* module : {"mali_kbase", "panfrost", "panthor", "nvidia", "amdgpu", "i915", "xe",
                             "msm", "pvrsrvkm", "galcore", "kgsl"}) {
    const auto text = read_file(fmt::format("/sys/module/{}/version", module), 4096);
    if (text) versions += fmt::format("{} {};", module, trim(*text));
  }
  return versions;
}

}  // namespace clvet
