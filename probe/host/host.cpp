#include "probe/host/host.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/kernel_view.h"
#include "probe/host/environment.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

std::string first_text(std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    const auto text = read_file(path, 1 << 16);
    if (text && !trim(*text).empty()) return driver_string(trim(*text));
  }
  return {};
}

// The value behind `key` and a separator in a file of lines.
std::string line_value(const char* path, std::string_view key, char separator) {
  const auto text = read_file(path, 1 << 20);
  if (!text) return {};
  for (const std::string& line : split(*text, '\n')) {
    const auto at = line.find(separator);
    if (at == std::string::npos || trim(std::string_view(line).substr(0, at)) != key) continue;
    std::string_view value = trim(std::string_view(line).substr(at + 1));
    if (value.size() > 1 && value.front() == '"') value = value.substr(1, value.size() - 2);
    return clean_utf8(value);
  }
  return {};
}

// The last name in the device tree's list of compatible strings is the SoC.
std::string soc_name() {
  const auto text = read_file("/proc/device-tree/compatible", 1 << 12);
  if (!text) return {};
  std::string last;
  for (const std::string& part : split(*text, '\0')) {
    if (!part.empty()) last = part;
  }
  return clean_utf8(last);
}

std::vector<DeviceNode> gpu_nodes() {
  std::vector<std::string> paths;
  std::error_code error;
  for (const char* path : {"/dev/mali0", "/dev/mali", "/dev/kgsl-3d0", "/dev/nvidia0",
                           "/dev/galcore", "/dev/pvr_sync", "/dev/kfd"}) {
    if (fs::exists(path, error)) paths.emplace_back(path);
  }
  for (const auto& entry : fs::directory_iterator("/dev/dri", error)) {
    if (entry.path().filename().string().starts_with("renderD")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<DeviceNode> nodes;
  for (std::string& path : paths) {
    const bool accessible = ::access(path.c_str(), R_OK | W_OK) == 0;
    nodes.push_back({std::move(path), accessible});
  }
  return nodes;
}

std::vector<std::string> kernel_drivers() {
  std::vector<std::string> drivers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/class/drm", error)) {
    const auto link = fs::read_symlink(entry.path() / "device" / "driver", error);
    if (!error) drivers.push_back(link.filename());
  }
  for (const char* module : {"mali_kbase", "kgsl", "pvrsrvkm", "galcore", "nvidia"}) {
    if (fs::exists(std::string("/sys/module/") + module, error)) drivers.emplace_back(module);
  }
  std::sort(drivers.begin(), drivers.end());
  drivers.erase(std::unique(drivers.begin(), drivers.end()), drivers.end());
  return drivers;
}

}  // namespace

HostReport read_host() {
  HostReport host;
  host.board = first_text({"/proc/device-tree/model", "/sys/class/dmi/id/product_name"});
  host.soc = soc_name();
  host.os = line_value("/etc/os-release", "PRETTY_NAME", '=');
  utsname name{};
  if (::uname(&name) == 0) host.kernel = fmt::format("{} {}", name.release, name.machine);
  host.libc = std::string("glibc ") + ::gnu_get_libc_version();
  host.cpu = line_value("/proc/cpuinfo", "model name", ':');
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    host.memory = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  host.nodes = gpu_nodes();
  host.kernel_drivers = kernel_drivers();
  if (const auto shown = shown_variables()) host.env = *shown;
  KernelInView kernel = kernel_in(*view_of(""));
  host.gpus = std::move(kernel.gpus);
  host.container = std::move(kernel.container);
  host.selinux = std::move(kernel.selinux);
  host.clocks = std::move(kernel.clocks);
  host.temperatures = std::move(kernel.temperatures);
  return host;
}

}  // namespace clvet
