// `--isolate`: this same command in a child process, which may crash, hang or lie.
#pragma once

#include "base/event.h"
#include "cli/common_options.h"
#include "probe/report/report.h"

namespace clvet {

// Runs this process's own command line without --isolate in a child and gives its exit code. The
// child writes down each call of the driver (runtime/exec/flight.h) and, in the end, its exit code:
// a process that ends without is one that died, whatever its exit status. What it died of, or hung
// in, is noted, and the command is run again without that, on the host in the end.
//
// `strict`: no fallback. A driver that takes longer than `guard` allows counts as hung.
int run_isolated(const GuardOptions& guard, bool strict, const EventSink& sink);

// Where a verb that may run in such a child says how it goes: the terminal. In a child, what is not
// an error waits for finish_verb(): a child that dies is followed by another.
EventSink verb_sink(bool quiet);
// What drivers fork from now on ends with the verb: it may hold our standard output.
void adopt_orphans();
// The verb is done, with this exit code.
void finish_verb(int exit_code);

// Whether the command is to run in a child though nobody asked for it: a start died on a device of
// `report` before, and this process is no child itself.
bool wants_isolation(const Report& report);

}  // namespace clvet
