// One worker process under watch: started, asked, timed, and buried whatever it does.
//
// The supervisor never loads a driver. Everything a worker says is distrusted; how it ended is told
// by an Outcome, never by an exception or an Error.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probe/worker/process.h"
#include "probe/worker/stage_page.h"

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

enum class OutcomeKind {
  kReply,        // the worker answered
  kEnded,        // it ended during the call, by signal or by any exit status
  kHang,         // it was killed: a stage ran out of time
  kMemory,       // it was killed: it grew beyond its limit
  kNonsense,     // it was killed: what it sent was no message
  kUnreapable,   // it could not be killed (uninterruptible sleep in the kernel)
  kDeadline,     // it was killed: the overall budget is spent
  kInterrupted,  // it was killed: the user asked us to stop
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kReply;
  nlohmann::json reply;       // kReply
  ExitState exit;             // kEnded
  StageSnapshot stage;        // in flight at the end, unless kReply
  std::string captured;       // what the driver printed during the call, invalid UTF-8 replaced
  size_t captured_total = 0;  // bytes printed, kept or not
  double wall_seconds = 0, cpu_seconds = 0;
  double driver_seconds = 0;  // spent in driver calls, the one in flight included
};

// Set by a signal handler; every call in flight then ends as kInterrupted.
extern std::atomic<bool> interrupt_requested;

class Worker {
 public:
  // Starts `<program> worker`. The thread that starts a worker must outlive it: the worker dies
  // with that thread.
  static Result<Worker> start(const WorkerSettings& settings, StageView& stage);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  // Sends a request with descriptors and waits for its outcome. After anything but kReply the
  // worker is gone. A reply may come from a worker that ended right after it: see alive().
  Outcome call(const nlohmann::json& request, const std::vector<int>& fds = {});
  // False once it is gone, also where it ended by itself between two calls.
  bool alive();
  // Kills and reaps it and all it left behind. False where it could not be reaped.
  bool bury();

 private:
  Worker() = default;
  struct Watch;
  std::optional<OutcomeKind> check_limits(Watch& watch);
  std::optional<OutcomeKind> take_reply(Watch& watch);
  bool note_end(Watch& watch);
  void finish(Watch& watch, OutcomeKind kind);
  void drain_output(Watch& watch);

  WorkerSettings settings_;
  StageView* stage_ = nullptr;
  UniqueFd control_, output_;
  pid_t pid_ = 0;
  uint64_t resident_at_first_ = 0;
};

}  // namespace clvet
