// `clvet probe` as a library: discovery, trials, report.
#pragma once

#include <functional>
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
  // Keeps the report: writes it where it belongs, and may add to it. The journal goes only after
  // that; where this fails it stays, and so it does without this only after a whole probe.
  std::function<Status(Report& report)> keep;
};

// The report, complete or not (an exhausted budget leaves cases `missing`; with `cases` the report
// lists these only and is never complete). kBusy: another probe is running; kInvalidArgument: state
// folder or journal is bad, a disk is full, or a pattern of `cases` means no case; kNoDevice: the
// selector means no device; kInternal: the fault is ours or the machine's. Interrupted, out of
// budget, or after an error: the journal is kept and the next probe goes on from there
// (Report::complete is false).
Result<Report> probe(const ProbeOptions& options);

}  // namespace clvet
