// The report that a session goes by.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

inline constexpr const char* kNoReport = "this machine has no report yet; 'clvet probe' makes one";

struct ReportChoice {
  std::optional<Report> report;
  std::string why_not;  // one sentence; empty where there is one
};

// The report in `file` (empty: the one that 'clvet probe' keeps in `state_dir`) without the devices
// that another driver answers for now, and with what earlier starts found out of the others. No
// report in the state folder is no error; a named one that cannot serve is.
Result<ReportChoice> choose_report(const std::string& file, const std::string& state_dir);

}  // namespace clvet
