// `run --isolate`: this same command in a child process.
#pragma once

#include "base/event.h"

namespace clvet {

// Runs this process's own command line without --isolate in a child and gives its exit code. If the
// child is ended by a signal, the command is run again with --device host, and that is said.
int run_isolated(const EventSink& sink);

}  // namespace clvet
