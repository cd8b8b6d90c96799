#include "probe/files/kernel_view.h"

#include <fmt/format.h>
#include <sys/klog.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"

namespace clvet {
namespace {

constexpr size_t kLargestLog = 4 << 20;
constexpr size_t kLargestText = 4096;
constexpr size_t kMostLines = 200;
constexpr size_t kLongestLine = 500;
constexpr size_t kMostEntries = 16;

constexpr const char* kLogs[] = {"/var/log/dmesg", "/var/log/kern.log", "/var/log/messages",
                                 "/var/log/syslog"};
constexpr const char* kGpuWords[] = {"mali", "panfrost", "panthor", "powervr", "rgx",
                                     "pvr",  "DDK",      "kgsl",    "galcore"};
constexpr const char* kGpuTexts[] = {"/sys/class/misc/mali0/device/gpuinfo",
                                     "/sys/class/kgsl/kgsl-3d0/gpu_model",
                                     "/sys/kernel/debug/gc/info"};
struct Sign {
  const char *path, *word;
};
constexpr Sign kContainers[] = {{"/.dockerenv", "docker"},
                                {"/run/.containerenv", "podman"},
                                {"/dev/lxd/sock", "lxd"},
                                {"/dev/.lxc", "lxc"}};

std::string text_of(const FileSystemView& view, const std::string& path) {
  const auto real = resolve(view, path);
  const auto text = real ? view.text(*real, kLargestText) : Result<std::string>(std::string());
  return text ? one_line(trim(*text), kLongestLine) : std::string();
}

std::vector<std::string> entries(const FileSystemView& view, const std::string& folder) {
  const auto real = resolve(view, folder);
  std::vector<std::string> names = real ? view.names(*real) : std::vector<std::string>();
  if (names.size() > kMostEntries) names.resize(kMostEntries);
  return names;
}

// A Mali release at `at`: g13p0-01eac0.
size_t release_length(std::string_view text, size_t at) {
  size_t end = at + 1;
  const auto digits = [&] {
    const size_t begin = end;
    while (end < text.size() && end - begin < 3 && text[end] >= '0' && text[end] <= '9') ++end;
    return end > begin;
  };
  const auto word = [&](std::string_view expected) {
    if (text.substr(end, expected.size()) != expected) return false;
    end += expected.size();
    return true;
  };
  if (!digits() || !word("p") || !digits()) return 0;
  const size_t release = end - at;
  if (!word("-") || !digits()) return 0;
  return word("rel") || word("eac") || word("bet") || word("dev") ? release : 0;
}

std::string container_in(const FileSystemView& view) {
  for (const Sign& sign : kContainers) {
    if (exists(view, sign.path)) return sign.word;
  }
  if (std::string word = text_of(view, "/run/systemd/container"); !word.empty()) return word;
  const std::string groups = text_of(view, "/proc/1/cgroup");
  for (const char* word : {"docker", "kubepods", "libpod", "lxc"}) {
    if (groups.find(word) != std::string::npos) return word;
  }
  return {};
}

std::string selinux_in(const FileSystemView& view) {
  const std::string enforce = text_of(view, "/sys/fs/selinux/enforce");
  return enforce.empty() ? "" : enforce == "1" ? "enforcing" : "permissive";
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

std::vector<std::string> clocks_in(const FileSystemView& view) {
  std::vector<std::string> found;
  for (const std::string& name : entries(view, "/sys/class/devfreq")) {
    const std::string folder = "/sys/class/devfreq/" + name + "/";
    const std::string now = text_of(view, folder + "cur_freq");
    if (now.empty()) continue;
    found.push_back(fmt::format("{}: {}, {:.0f} of {:.0f} MHz", one_line(name),
                                text_of(view, folder + "governor"), number(now) / 1e6,
                                number(text_of(view, folder + "max_freq")) / 1e6));
  }
  return found;
}

std::vector<std::string> temperatures_in(const FileSystemView& view) {
  std::vector<std::string> found;
  for (const std::string& name : entries(view, "/sys/class/thermal")) {
    const std::string folder = "/sys/class/thermal/" + name + "/";
    const std::string type = text_of(view, folder + "type"),
                      degrees = text_of(view, folder + "temp");
    if (!name.starts_with("thermal_zone") || type.empty() || degrees.empty()) continue;
    found.push_back(fmt::format("{}: {:.1f} C", type, number(degrees) / 1000));
  }
  return found;
}

bool concerns_gpu(std::string_view line) {
  return std::any_of(std::begin(kGpuWords), std::end(kGpuWords),
                     [&](const char* word) { return contains_ignoring_case(line, word); });
}

}  // namespace

std::string mali_release_in(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != 'r' && text[at] != 'g') continue;
    if (const size_t length = release_length(text, at)) return std::string(text.substr(at, length));
  }
  return {};
}

void add_kernel_log(std::string_view text, KernelInView& kernel) {
  constexpr std::string_view kRelease = "Kernel DDK version ";
  for (const std::string& line : split(text, '\n')) {
    if (!concerns_gpu(line)) continue;
    if (kernel.lines.size() < kMostLines)
      kernel.lines.push_back(shorten(clean_utf8(line), kLongestLine));
    const size_t at = line.find(kRelease);
    if (at != std::string::npos && kernel.mali_release.empty())
      kernel.mali_release = mali_release_in(std::string_view(line).substr(at));
  }
}

KernelInView kernel_in(const FileSystemView& view) {
  KernelInView kernel;
  for (const char* path : kGpuTexts) {
    if (std::string text = text_of(view, path); !text.empty())
      kernel.gpus.push_back(std::move(text));
  }
  kernel.mali_release = mali_release_in(text_of(view, "/sys/module/mali_kbase/version"));
  kernel.container = container_in(view);
  kernel.selinux = selinux_in(view);
  kernel.clocks = clocks_in(view);
  kernel.temperatures = temperatures_in(view);
  return kernel;
}

void add_kernel_logs(const FileSystemView& view, KernelInView& kernel) {
  for (const char* log : kLogs) {
    const auto real = resolve(view, log);
    const auto text = real ? view.text(*real, kLargestLog) : Result<std::string>(std::string());
    if (text) add_kernel_log(*text, kernel);
  }
}

std::string own_kernel_log() {
  constexpr int kSize = 10, kReadAll = 3;
  const int size = ::klogctl(kSize, nullptr, 0);
  if (size <= 0) return {};
  std::string text(std::min<size_t>(static_cast<size_t>(size), kLargestLog), '\0');
  const int read = ::klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  text.resize(read > 0 ? static_cast<size_t>(read) : 0);
  return text;
}

std::string gpu_of_library(const std::string& path) {
  static const Pattern pattern(
      R"(^lib[mM]ali-(utgard|midgard|bifrost|valhall)-([gt]?[0-9]{2,3}x?)-)");
  const std::string name = file_name_of(path).substr(0, 200);
  const auto found = pattern.first_parts(name);
  return found.empty() ? std::string() : found[2];
}

bool may_fit(const std::string& gpu, const std::vector<std::string>& found) {
  bool any = false;
  for (const std::string& text : found) {
    const size_t at = text.find("Mali-");
    if (at == std::string::npos) continue;
    any = true;
    std::string has = text.substr(at + 5, gpu.size());
    std::transform(has.begin(), has.end(), has.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool same =
        std::equal(gpu.begin(), gpu.end(), has.begin(), has.end(),
                   [](char a, char b) { return a == b || (a == 'x' && b >= '0' && b <= '9'); });
    if (same) return true;
  }
  return !any;
}

}  // namespace clvet
