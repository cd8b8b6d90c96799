// Reports as one HTML page for people: a single file that fetches nothing, reads well on a phone,
// on paper and in the dark, and shows what drivers printed as text only.
#pragma once

#include <string>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

struct NamedReport {
  std::string name;  // the file, for the heading
  Report report;
};

// What fails is shown with its evidence; what is right or was not tried, as counts. Long logs are
// shortened, and where evidence would take more than about 1 MiB for a report, the rest of it is
// named and left out: report.json has it all.
std::string html_page(const std::vector<NamedReport>& reports);

}  // namespace clvet
