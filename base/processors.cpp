#include "base/processors.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "base/whole_number.h"

namespace clvet {
namespace {

constexpr size_t kLargestFile = 1 << 16;

std::string text_of(const std::string& path) {
  const auto text = read_file(path, kLargestFile);
  return text ? std::string(trim(*text)) : "";
}

std::optional<double> positive(std::string_view text) {
  const auto value = whole_number(text);
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<double>(*value);
}

// Processors; the largest int where there is no quota.
int processors_of(std::string_view quota, std::string_view period) {
  const auto allowed = positive(quota), of = positive(period);
  constexpr int kAll = std::numeric_limits<int>::max();
  if (!allowed || !of) return kAll;
  const double count = std::ceil(*allowed / *of);
  return count < kAll ? static_cast<int>(count) : kAll;
}

int quota_v2(const std::string& folder) {
  const std::string text = text_of(folder + "/cpu.max");
  const size_t blank = text.find(' ');
  const std::string_view words(text);
  return blank == std::string::npos
             ? processors_of("", "")
             : processors_of(words.substr(0, blank), words.substr(blank + 1));
}

int quota_v1(const std::string& folder) {
  return processors_of(text_of(folder + "/cpu.cfs_quota_us"),
                       text_of(folder + "/cpu.cfs_period_us"));
}

// A hierarchy of control groups: where it is mounted, and how a group of it says its quota.
struct Hierarchy {
  const char* mounted;
  int (*quota)(const std::string& folder);
};
constexpr Hierarchy kOne[] = {{"/sys/fs/cgroup/cpu", quota_v1},
                              {"/sys/fs/cgroup/cpu,cpuacct", quota_v1}};
constexpr Hierarchy kTwo[] = {{"/sys/fs/cgroup", quota_v2}, {"/sys/fs/cgroup/unified", quota_v2}};

// Of `group` and those above it. A container may see its own group as the top of the hierarchy and
// yet be told another name of it.
int least_quota(const Hierarchy& hierarchy, const std::string& root, std::string group) {
  int least = std::numeric_limits<int>::max();
  if (group.find("..") != std::string::npos) group.clear();
  for (;;) {
    least = std::min(least, hierarchy.quota(root + hierarchy.mounted + group));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

// Of a line of /proc/self/cgroup: "0::/group" (v2), "4:cpu,cpuacct:/group" (v1).
int quota_of_line(const std::string& line, const std::string& root) {
  const size_t first = line.find(':');
  const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  int least = std::numeric_limits<int>::max();
  if (second == std::string::npos) return least;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  const std::vector<std::string> names = split(controllers, ',');
  const bool of_cpu = std::find(names.begin(), names.end(), "cpu") != names.end();
  if (controllers.empty())
    for (const Hierarchy& row : kTwo) least = std::min(least, least_quota(row, root, group));
  if (of_cpu)
    for (const Hierarchy& row : kOne) least = std::min(least, least_quota(row, root, group));
  return least;
}

std::string variable() {
  const char* text = ::getenv(kThreadsVariable);
  return text ? text : "";
}

}  // namespace

int processors_of_mask() {
  // A mask that is too small for the machine is refused: twice as many then.
  constexpr size_t kMost = size_t{1} << 20;
  for (size_t count = CPU_SETSIZE; count <= kMost; count *= 2) {
    std::vector<cpu_set_t> mask(count / CPU_SETSIZE);
    const size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, bytes, mask.data()) == 0)
      return std::max(1, CPU_COUNT_S(bytes, mask.data()));
  }
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

int allowed_processors(int mask, const std::string& root) {
  int least = mask;
  for (const std::string& line : split(text_of(root + "/proc/self/cgroup"), '\n'))
    least = std::min(least, quota_of_line(line, root));
  return std::max(1, least);
}

Result<int> parse_threads(const std::string& text) {
  int count = -1;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && read == end && count >= 0 && count <= kMostThreads) return count;
  return fail(ErrorCode::kInvalidArgument, "'{}' is not a number of threads from 0 to {}",
              one_line(text), kMostThreads);
}

Status check_threads_variable() {
  const std::string text = variable();
  if (text.empty()) return {};
  const auto count = parse_threads(text);
  return count ? Status() : wrap(count.error(), kThreadsVariable);
}

void set_threads(int count) { ::setenv(kThreadsVariable, std::to_string(count).c_str(), 1); }

int thread_count() {
  const auto wanted = parse_threads(variable());
  return wanted && *wanted > 0 ? *wanted : allowed_processors(processors_of_mask());
}

}  // namespace clvet
