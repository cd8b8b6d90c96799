// The worker's half of a trial: build, run, read back. It reports what the driver did and judges
// nothing; the outputs go to the supervisor as they are.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/result.h"
#include "kernels/launch_batch.h"
#include "probe/process/spread_threads.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/trial/held_trial.h"
#include "probe/trial/launch_times.h"
#include "probe/trial/placed_memory.h"
#include "probe/trial/request.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

// Clears the outputs, launches and reads them back as reading number `number`.
DrivenStatus launch_and_read(DriverSession& session, const TrialRequest& request,
                             std::vector<PlacedMemory>& memory, int launches, int number,
                             nlohmann::json& reply) {
  CLVET_DRIVE(clear_outputs(session, memory));
  const auto ran = time_batch(session, request, memory, launches);
  if (!ran) return tl::unexpected(ran.error());
  return read_outputs(session, memory, number, reply);
}

DrivenStatus run_and_read(DriverSession& session, const TrialRequest& request,
                          std::vector<PlacedMemory>& memory, nlohmann::json& reply) {
  for (int number = 0; number < request.repeats; ++number)
    CLVET_DRIVE(launch_and_read(session, request, memory, 1, number, reply));
  return {};
}

// Beside those of a device that computes while the host launches: there a host that is slow for a
// while would seem to be a slow kernel.
void time_idle_too(DriverSession& session, const TrialRequest& request, LaunchTimes& times) {
  if (!request.beside_idle) return;
  if (const auto ms = time_idle(session, 1)) times.idle.push_back(*ms);
  if (times.launches == 0) return;
  if (const auto ms = time_idle(session, times.launches)) times.idle_piped.push_back(*ms);
}

// Single launches, each waited for, and in turn with them, where they are short, launches one
// behind the other: what disturbs for some milliseconds disturbs neither alone.
DrivenStatus time_for_a_while(DriverSession& session, const TrialRequest& request,
                              std::vector<PlacedMemory>& memory, LaunchTimes& times) {
  constexpr size_t kMost = 200, kLeast = 3;
  auto& [single, piped, launches, idle, idle_piped] = times;
  double until = monotonic_seconds() + request.timing_seconds;
  const auto enough = [&] {
    return single.size() >= kLeast && (launches == 0 || piped.size() >= kLeast);
  };
  while (!enough() || (single.size() < kMost && monotonic_seconds() < until)) {
    const auto one = time_batch(session, request, memory, 1);
    if (!one) return tl::unexpected(one.error());
    single.push_back(*one);
    if (single.size() == kLeast) {
      launches = launches_in_batch(median(single));
      if (launches > 0) until += request.timing_seconds;
    }
    time_idle_too(session, request, times);
    if (launches == 0) continue;
    const auto several = time_batch(session, request, memory, launches);
    if (!several) return tl::unexpected(several.error());
    piped.push_back(*several);
  }
  return {};
}

// What disturbs for longer shows in the spread: then it is timed again, and the steadiest times
// count. Afterwards the outputs are read as they were before: a driver that skips repeats is fast,
// and wrong.
DrivenStatus time_launches(DriverSession& session, const TrialRequest& request,
                           std::vector<PlacedMemory>& memory, nlohmann::json& reply) {
  constexpr int kMostWindows = 3;
  if (request.timing_seconds <= 0) return {};
  const SpreadThreads spread(session.processor);
  LaunchTimes best;
  for (int window = 0; window < kMostWindows; ++window) {
    LaunchTimes times;
    CLVET_DRIVE(time_for_a_while(session, request, memory, times));
    if (window == 0 || times.spread() < best.spread()) best = std::move(times);
    if (best.steady()) break;
  }
  reply["median_ms"] = best.median();
  reply["spread_ms"] = best.spread();
  reply["piped_ms"] = undisturbed(best.piped.empty() ? best.single : best.piped);
  if (!best.idle.empty()) reply["launch_ms"] = median(best.idle);
  if (!best.idle_piped.empty()) reply["piped_launch_ms"] = undisturbed(best.idle_piped);
  return launch_and_read(session, request, memory, std::max(best.launches, 1), request.repeats,
                         reply);
}

DrivenStatus run_trial(DriverSession& session, const TrialRequest& request,
                       std::vector<PlacedMemory>& memory, nlohmann::json& reply) {
  CLVET_DRIVE(build_kernel(session, request.program, reply));
  if (request.build_only) return {};
  if (request.slot >= 0) share_outputs(session, memory);
  CLVET_DRIVE(create_memory(session, memory));
  CLVET_DRIVE(set_args(session, request, memory));
  CLVET_DRIVE(run_and_read(session, request, memory, reply));
  return time_launches(session, request, memory, reply);
}

}  // namespace

Status handle_trial(DriverSession& session, Message& message, nlohmann::json& reply) {
  const TrialRequest request = trial_from_message(message.body);
  if (!session.queue)
    return fail(ErrorCode::kInternal, "a trial was asked for before a device was opened");
  CLVET_ASSIGN_OR_RETURN(auto memory, map_memory(request, message.fds));
  const DrivenStatus status = run_trial(session, request, memory, reply);
  if (status && request.slot >= 0) {
    hold_trial(session, request, std::move(memory));
    return {};
  }
  {
    const StageMarker marker(Stage::kRelease, "clReleaseMemObject");
    memory.clear();
  }
  // Here and not before the next build, where a crash would be laid at another kernel's door.
  session.built.wanted = !request.release_program && status;
  if (!session.built.wanted) release_program(session);
  if (!status) tell_fault(status.error(), reply);
  return {};
}

Status handle_release(DriverSession& session, Message& message, nlohmann::json&) {
  release_program(session, message.body.value("key", std::string()));
  return {};
}

}  // namespace clvet
