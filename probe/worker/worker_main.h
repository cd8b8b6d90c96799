// The worker's side: a loop that serves the supervisor's requests one at a time, each in the same
// process that holds the driver, until the socket closes or the driver ends the process.
#pragma once

namespace clvet {

// Descriptors 3 (control socket) and 4 (stage page) must be inherited. `parent` is the supervisor's
// pid: if it is gone already, the worker ends. Returns the exit status; the caller passes it to
// _exit, so that no destructor of a driver runs.
int worker_main(int parent);

}  // namespace clvet
