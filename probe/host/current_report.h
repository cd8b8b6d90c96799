// Whether a report may be used as it is.
#pragma once

namespace clvet {

struct Report;

// True where the report still stands for this machine's drivers and this program's kernels, and
// where `whole` holds all of its tier.
bool report_is_current(const Report& report, bool whole = true);

}  // namespace clvet
