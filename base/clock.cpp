#include "base/clock.h"

#include <time.h>

#include <cstdint>
#include <ctime>
#include <string>

namespace clvet {

double monotonic_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double ms_since(double start) { return (monotonic_seconds() - start) * 1e3; }

int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string utc_now() { return utc_of(static_cast<double>(std::time(nullptr))); }

std::string utc_of(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace clvet
