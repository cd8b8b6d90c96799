// One worker process under watch: started, asked, timed, and buried whatever it does.
//
// The supervisor never loads a driver. Everything a worker says is distrusted; how it ended is told
// by an Outcome, never by an exception or an Error.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "probe/process/process.h"
#include "probe/process/stage_page.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

enum class OutcomeKind {
  kReply,        // the worker answered
  kEnded,        // it ended during the call, by signal or by any exit status
  kHang,         // it was killed: a stage ran out of time
  kMemory,       // it was killed: it grew beyond its limit
  kNonsense,     // it was killed: what it sent was no message, or no reply to this request
  kUnreapable,   // it could not be killed (uninterruptible sleep in the kernel)
  kDeadline,     // it was killed: the overall budget is spent
  kInterrupted,  // it was killed: the user asked us to stop
};
// By the budget or an interrupt: nothing more is asked.
bool ends_run(OutcomeKind kind);

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

// Why an outcome is not the driver's doing, in one sentence with the next step: the worker never
// came to its first driver call. nullopt: it did, or it answered, or it was told to stop.
std::optional<Error> own_fault(const Outcome& outcome);

class Worker {
 public:
  // Starts `<program> worker`. The thread that starts a worker must outlive it: the worker dies
  // with that thread.
  static Result<Worker> start(const WorkerSettings& settings, StageView& stage);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  // Sends a request with descriptors and waits for its outcome. The request gets a `nonce`, which
  // the reply must have. After anything but kReply the worker is gone. A reply may come from a
  // worker that ended right after it: see alive().
  Outcome call(const nlohmann::json& request, const std::vector<int>& fds = {});
  // False once it is gone, also where it ended by itself between two calls.
  bool alive();
  // Kills and reaps it and all it left behind. False where it could not be reaped.
  bool bury();

 private:
  Worker() = default;
  struct Watch;
  OutcomeKind wait(Watch& watch);
  // By the user's wish, or by the deadline.
  std::optional<OutcomeKind> time_is_up() const;
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
  double family_since_ = 0;  // when that was last read
  uint64_t family_bytes_ = 0;
};

}  // namespace clvet
