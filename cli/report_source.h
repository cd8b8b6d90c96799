// The report that a verb works from.
#pragma once

#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

struct LlmConfig;

// Reads the report in `path` (empty: the state folder's). If it cannot serve, this probes the core
// tier, tells `sink` so and keeps the new report in the state folder. A report cannot serve
//  - where there is none yet;
//  - where it was made with other drivers or kernels;
//  - where it is the state folder's, is not complete and has no best combination.
// A named file that cannot be read is an error. A named report may cover a part of the tier.
//
// `needs`, where given, are patterns of cases: if the state folder's report does not stand, those
// alone are probed, and kept beside it for the next who has the same needs.
Result<Report> current_report(const std::string& path, const EventSink& sink,
                              const std::vector<std::string>& needs = {});

// Says on one line what of a document of `clvet tune` is not believed; nothing where all is.
void warn_of_tuned(const std::string& file, const EventSink& sink);

// The cases of the kernels that a language model needs: all that is tried before its first token,
// where nothing is known of this machine yet.
std::vector<std::string> needs_of(const LlmConfig& config);

// Writes a probe's report into `file`, with what the report in it knows and this one does not
// (add_known). `narrowed`: the probe was told to look at a part of the machine. If the probe was
// narrowed or not complete and found no device, the file keeps a report whose devices still stand,
// and the function returns false. It tells `sink` what it added or kept.
Result<bool> keep_report(const std::string& file, bool narrowed, const EventSink& sink,
                         Report& report);

}  // namespace clvet
