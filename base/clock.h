// Monotonic seconds, and dates for documents.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace clvet {

double monotonic_seconds();
// Milliseconds since `start`, a time of monotonic_seconds().
double ms_since(double start);
// A time of the system's as one number.
int64_t nanoseconds(const timespec& time);
// UTC, ISO 8601, seconds: "2026-11-21T09:42:59Z".
std::string utc_now();
std::string utc_of(double seconds);  // since 1970

}  // namespace clvet
