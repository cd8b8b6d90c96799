// Monotonic seconds, and dates for documents.
#pragma once

#include <string>

namespace clvet {

double monotonic_seconds();
// UTC, ISO 8601, seconds: "2026-11-21T09:42:59Z".
std::string utc_now();

}  // namespace clvet
