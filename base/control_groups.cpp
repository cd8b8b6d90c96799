#include "base/control_groups.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace clvet {
namespace {

constexpr const char* kMounted = "/sys/fs/cgroup";

// `group` and those above it, in a hierarchy that is mounted at `top`.
void add_upwards(int version, const std::string& top, std::string group,
                 std::vector<ControlGroup>& groups) {
  if (group.find("..") != std::string::npos) group.clear();
  for (;;) {
    groups.push_back({version, top + group});
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return;
    group.resize(slash);
  }
}

// Of a line of /proc/self/cgroup: "0::/group" (v2), "4:cpu,cpuacct:/group" (v1).
void add_line(const std::string& line, const std::string& controller, const std::string& mounted,
              std::vector<ControlGroup>& groups) {
  const size_t first = line.find(':');
  const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) return;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  if (controllers.empty()) {
    for (const char* top : {"", "/unified"}) add_upwards(2, mounted + top, group, groups);
    return;
  }
  const std::vector<std::string> names = split(controllers, ',');
  if (std::find(names.begin(), names.end(), controller) == names.end()) return;
  for (const std::string& top : {controller, controllers})
    add_upwards(1, mounted + "/" + top, group, groups);
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root) {
  constexpr size_t kLargestFile = 1 << 16;
  std::vector<ControlGroup> groups;
  const auto text = read_file(root + "/proc/self/cgroup", kLargestFile);
  if (!text) return groups;
  for (const std::string& line : split(std::string(trim(*text)), '\n'))
    add_line(line, std::string(controller), root + kMounted, groups);
  return groups;
}

}  // namespace clvet
