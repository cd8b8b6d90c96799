// The report that a verb works from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// The report in `path` (empty: the state folder's). The core tier is probed first, `sink` is told,
// and the report is kept in the state folder:
//  - where there is no report yet;
//  - where a report was made with other drivers or kernels;
//  - where the state folder's is not complete and has no best combination.
// A named file that cannot be read is an error. A named report of a part of the tier serves as it
// is.
//
// `needs`, where given, are patterns of cases: if the state folder's report does not stand, those
// alone are probed, and kept beside it for the next who has the same needs.
Result<Report> current_report(const std::string& path, const EventSink& sink,
                              const std::vector<std::string>& needs = {});

// The same where nothing may be probed: the file in `path`, of whichever machine; or what the state
// folder keeps, preferably made with this program's kernels; nullopt where it keeps none.
Result<std::optional<Report>> kept_report(const std::string& path);

// Writes a probe's report into `file`, with what the report in it knows and this one does not
// (add_known). `narrowed`: the probe was told to look at a part of the machine. If the probe was
// narrowed or not complete and found no device, a report whose devices still stand is kept, and the
// answer is false. `sink` is told what was added or kept.
Result<bool> keep_report(const std::string& file, bool narrowed, const EventSink& sink,
                         Report& report);

// True where the report still stands for this machine's drivers and this program's kernels, and
// where `whole` holds all of its tier.
bool report_is_current(const Report& report, bool whole = true);

}  // namespace clvet
