// Report <-> JSON text. The document is checked field by field on reading: a report cut in half or
// made by another schema version is refused by name, never half-read. Control characters in a
// report's strings become U+FFFD on reading; in the name of a member they are refused.
#pragma once

#include <string>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

std::string report_to_json(const Report& report);
// `source` names the file in messages. kInvalidArgument with the JSON path of the first fault.
Result<Report> report_from_json(const std::string& text, const std::string& source);

// One verdict as one line of JSON, for the journal.
std::string verdict_to_json(const VerdictReport& verdict);
Result<VerdictReport> verdict_from_json(const std::string& text);

}  // namespace clvet
