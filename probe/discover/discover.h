// Discovery: every candidate library tried in a worker of its own, every device listed once.
#pragma once

#include <vector>

#include "probe/cl/library_search.h"
#include "probe/trial/runner.h"

namespace clvet {

struct DiscoverySettings {
  std::vector<std::string> libraries;  // empty: search
  WorkerSettings worker;
  int jobs = 8;  // candidates tried at the same time; those that hang take a clock's time each
};

struct FoundDevice {
  DeviceReport report;  // facts only
  DeviceRoute route;
};

struct Discovery {
  LoaderReport loader;
  std::vector<CandidateReport> candidates;
  std::vector<IcdFileReport> icd_files;
  std::vector<FoundDevice> devices;
  double driver_seconds = 0;
};

// A device that several candidates reach is listed once, through the first that reaches it (loaders
// come first); the others are named in also_via. A candidate that turns out to be a file already
// tried is listed and not counted again.
Result<Discovery> discover(const DiscoverySettings& settings);

// True where a search now would try the libraries that the report's search tried. Loads nothing.
bool same_candidates(const Report& report, const std::vector<std::string>& libraries);

}  // namespace clvet
