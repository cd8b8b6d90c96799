// The report that a verb works from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// The report in `path` (empty: the state folder's). Where there is none yet, or the state folder's
// was made with other drivers or kernels, or is neither complete nor has a best combination, the
// core tier is probed first, which is said, and the report is kept in the state folder. A named
// file that cannot be read is an error; one that was made elsewhere is said to be stale and probed
// anew as well; one of a part of the tier serves as it is.
//
// `needs`, where given, are patterns of cases: if the state folder's report does not stand, those
// alone are probed, and kept beside it for the next who has the same needs.
Result<Report> current_report(const std::string& path, const EventSink& sink,
                              const std::vector<std::string>& needs = {});

// The same where nothing may be probed: the file in `path`, of whichever machine; or what the state
// folder keeps, preferably made with this program's kernels; nullopt where it keeps none.
Result<std::optional<Report>> kept_report(const std::string& path);

// Writes a probe's report into `file`, with what the report in it knows and this one does not
// (add_known). `narrowed`: the probe was told to look at a part of the machine. A report without
// devices does not replace one of devices that still stand, where the probe was narrowed or not
// complete; the answer is false then. Both are told to `sink`.
Result<bool> keep_report(const std::string& file, bool narrowed, const EventSink& sink,
                         Report& report);

// True where the report still stands for this machine's drivers and this program's kernels, and
// where `whole` holds all of its tier.
bool report_is_current(const Report& report, bool whole = true);

}  // namespace clvet
