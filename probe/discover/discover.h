// Discovery: every candidate library tried in a worker of its own, every device listed once. Known
// names come first, then libraries of the linker's cache and of the usual folders to which none
// led.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/files/file_view.h"
#include "probe/files/library_search.h"
#include "probe/report/report.h"
#include "probe/worker/device_route.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

struct DiscoverySettings {
  std::vector<std::string> libraries;  // empty: search
  // A clock for a call that does nothing but loop is added where it sets none (kDiscoverySpin).
  WorkerSettings worker;
  int jobs = 8;  // candidates tried at the same time; those that hang take a clock's time each
};

// Processor seconds without a new page touched after which a library that is being looked into
// counts as hanging. A driver that starts touches pages all the time, however slow the board; sixty
// libraries of which five loop take less than 20 s on two cores.
inline constexpr double kDiscoverySpin = 3;

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
  // What scan_libraries gave, where it was asked; it looks through many folders.
  std::optional<std::vector<std::string>> scanned;
};

// Libraries of `view` with OpenCL in them, of this program's ABI, to which `tried` (candidates as
// they ended) did not lead; at most 32. Loads nothing.
std::vector<Candidate> leftover_libraries(const FileSystemView& view,
                                          const std::vector<CandidateReport>& tried);

// A device that several candidates reach is listed once, through the first that reaches it (loaders
// come first); the others are named in also_via. A candidate that turns out to be a file already
// tried is listed and not counted again.
Result<Discovery> discover(const DiscoverySettings& settings);

// True where a search now would try the libraries that the report's search tried. Loads nothing.
bool same_candidates(const Report& report, const std::vector<std::string>& libraries);

}  // namespace clvet
