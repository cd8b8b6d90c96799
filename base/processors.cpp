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

#include "base/control_groups.h"
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
  for (const auto& [version, folder] : control_groups("cpu", root))
    least = std::min(least, version == 2 ? quota_v2(folder) : quota_v1(folder));
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
