// What a worker process is started with, how long it may take, and how the user stops it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace clvet {

// Seconds one stage may take. `idle` applies while the worker uses hardly any CPU time (a wait that
// never ends), `busy` always (a loop that never ends). `spin`, where it is not 0, is processor time
// in which the worker touches hardly any new page: a loop that does nothing. Compilers and drivers
// that start touch thousands of pages a second; one that waits for its GPU by looking may touch
// none, so trials have no such clock.
struct StageClock {
  double idle = 10;
  double busy = 60;
  double spin = 0;
};

struct WorkerLimits {
  StageClock build{30, 180};  // building, creating a kernel, and a first enqueue; never below 30 s
  StageClock other{10, 60};
  double own = 60;                             // between driver calls
  uint64_t memory_growth = uint64_t{2} << 30;  // resident bytes above the size at first reply
  size_t captured = 64 << 10;                  // bytes kept of each end of stdout and stderr
};

struct WorkerSettings {
  std::string program;  // absolute path of clvet
  std::map<std::string, std::string> environment;
  WorkerLimits limits;
  double deadline = 0;  // monotonic seconds at which every call ends; 0 = none
};

// Set by a signal handler; every call of a worker in flight then ends as OutcomeKind::kInterrupted.
extern std::atomic<bool> interrupt_requested;

}  // namespace clvet
