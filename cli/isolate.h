// `--isolate`: this same command in a child process, which may crash, hang or lie.
#pragma once

#include "base/event.h"
#include "probe/report/report.h"

namespace clvet {

struct IsolateOptions {
  bool strict = false;     // no fallback
  double patience_s = 30;  // beyond ten times the longest inference so far
  EventSink sink;
};

// Runs this process's own command line without --isolate in a child and gives its exit code. The
// child writes down each call of the driver (runtime/exec/flight.h) and, in the end, its exit code:
// a process that ends without is one that died, whatever its exit status. What it died of, or hung
// in, is noted, and the command is run again without that, on the host in the end.
int run_isolated(const IsolateOptions& options);

// Whether the command is to run in a child though nobody asked for it: a start died on a device of
// `report` before, and this process is no child itself.
bool wants_isolation(const Report& report);

}  // namespace clvet
