// `clvet probe` as a library: discovery, trials, report.
#pragma once

#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

struct ProbeOptions {
  std::vector<std::string> libraries;  // only these; empty: search
  std::string device;                  // index, platform:index or part of the name; empty: all
  Tier tier = Tier::kCore;
  std::vector<std::string> cases;  // patterns (keep_cases): only cases that match one; empty: all
  double budget_seconds = 0;       // 0: none
  bool fresh = false;              // forget what an interrupted probe left behind
  int jobs = 8;                    // candidates tried at the same time
  std::string data_dir;            // replaces embedded advice data (data_files.h); empty: none
  std::string state_dir;           // journal, stage page, scratch
  std::string program;             // absolute path of clvet, re-executed for workers
  WorkerLimits limits;
  EventSink sink;
};

// The report, complete or not (an exhausted budget leaves cases `missing`; with `cases` the report
// lists these only and is never complete). kUnavailable: another
// probe is running; kInvalidArgument: state folder or journal is bad. A selector that matches
// nothing gives a report without devices, and is told to the sink. Interrupted, or out of budget:
// the journal is kept and the next probe goes on from there (Report::complete is false).
Result<Report> probe(const ProbeOptions& options);

}  // namespace clvet
