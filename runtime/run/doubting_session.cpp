#include "runtime/run/doubting_session.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"
#include "runtime/exec/session.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/planner.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {
namespace {

using Inputs = std::map<std::string, Tensor>;

// Repeats from one that is compared with its predecessor to the next: what was read before has left
// the caches, and costs more than all else that is done to an answer.
constexpr int64_t kEveryRepeat = 8;

}  // namespace

tl::unexpected<Error> DoubtingSession::fault_found(Fault fault) {
  fault_ = std::move(fault);
  return fail(ErrorCode::kDeviceError, "{}", fault_->evidence);
}

Result<Outputs> DoubtingSession::unconfirmed(const Inputs& inputs) {
  Flight& flight = device_.flight();
  const double started = monotonic_seconds();
  auto outputs = in_flight(flight, [&] { return session_.run(inputs); });
  run_ms_ = ms_since(started);
  if (outputs || outputs.error().code != ErrorCode::kDeviceError) return outputs;
  const Error error = outputs.error();
  const FlightSnapshot now = flight.read();
  if (now.variant_is_known()) return fault_found(fault_of(now, error));
  // Any of the launches may be at fault. The check waits for each, and so finds which.
  const auto located = confirmed_by_host(inputs);
  return fault_ ? tl::unexpected(located.error()) : fault_found(fault_of(now, error));
}

bool DoubtingSession::is_right_again(const Inputs& inputs) {
  FaultFinder finder;
  Checker checker = finder.checker();
  const auto checked = session_.check(inputs, checker);
  if (!checked || finder.fault()) return false;
  const auto outputs = session_.run(inputs);
  return outputs && disagreement(*outputs, *checked, session_.plan().combination.precision).empty();
}

Result<Outputs> DoubtingSession::confirmed_by_host(const Inputs& inputs) {
  FaultFinder finder;
  Checker checker = finder.checker();
  Flight& flight = device_.flight();
  const double started = monotonic_seconds();
  auto outputs = in_flight(flight, [&] { return session_.check(inputs, checker); });
  checking_ms_ = ms_since(started) - 1e3 * checker.steps_s;
  if (!outputs) {
    if (outputs.error().code != ErrorCode::kDeviceError) return outputs;
    return fault_found(fault_of(flight.read(), outputs.error()));
  }
  if (!finder.fault()) return outputs;
  Fault fault = *finder.fault();
  doubt_maps(
      device_, [&] { return is_right_again(inputs); }, fault);
  return fault_found(std::move(fault));
}

// Both answers are the same plan's to the same inputs: one waited for step by step, one not.
Status DoubtingSession::settle(const Inputs& inputs, const Outputs& outputs,
                               const Outputs& checked) {
  const std::string where = disagreement(outputs, checked, session_.plan().combination.precision);
  if (!where.empty()) {
    Fault fault{.verdict = Verdict::kNondeterministic, .evidence = where};
    doubt_maps(
        device_, [&] { return is_right_again(inputs); }, fault);
    return fault_found(std::move(fault));
  }
  const bool odd = !suspicion_of(checked).empty();
  if (odd) CLVET_RETURN_IF_ERROR(compare_with_host(inputs, checked));
  rhythm_ = rhythm_after_check(run_ms_, checking_ms_, odd);
  return {};
}

// Each node was right with what the device gave it. Below high, rounding from node to node may have
// lost what the host's answer holds.
Status DoubtingSession::compare_with_host(const Inputs& inputs, const Outputs& outputs) {
  if (session_.plan().combination.precision == Precision::kHigh) return {};
  CLVET_ASSIGN_OR_RETURN(
      Session on_host,
      Session::create(session_.graph(), plan_on_host(session_.graph(), "compared"), nullptr));
  CLVET_ASSIGN_OR_RETURN(const Outputs host, on_host.run(inputs));
  const std::string refuted = refuted_suspicion(outputs, host);
  if (refuted.empty()) return {};
  return fault_found({.evidence = refuted, .range = true});
}

Result<Outputs> DoubtingSession::confirm(const Inputs& inputs, Outputs outputs) {
  CLVET_ASSIGN_OR_RETURN(const Outputs checked, confirmed_by_host(inputs));
  CLVET_RETURN_IF_ERROR(settle(inputs, outputs, checked));
  return outputs;
}

// Waited for step by step before anything else: what ends the process is then known.
Result<Outputs> DoubtingSession::first(const Inputs& inputs) {
  CLVET_ASSIGN_OR_RETURN(const Outputs checked, confirmed_by_host(inputs));
  CLVET_ASSIGN_OR_RETURN(Outputs outputs, unconfirmed(inputs));
  CLVET_RETURN_IF_ERROR(settle(inputs, outputs, checked));
  return outputs;
}

Result<Outputs> DoubtingSession::run(const Inputs& inputs) {
  if (!rhythm_) return first(inputs);
  CLVET_ASSIGN_OR_RETURN(Outputs outputs, unconfirmed(inputs));
  const bool odd = !rhythm_->odd && !suspicion_of(outputs).empty();
  if (is_due(*rhythm_, rate_) || odd || is_too_fast(*rhythm_, run_ms_))
    return confirm(inputs, std::move(outputs));
  ++rhythm_->since;
  return outputs;
}

Result<Outputs> DoubtingSession::again(const Inputs& inputs, const Outputs& before) {
  CLVET_ASSIGN_OR_RETURN(Outputs outputs, run(inputs));
  if (rhythm_->since % kEveryRepeat == 0)
    CLVET_RETURN_IF_ERROR(compare_repeats(inputs, outputs, before));
  return outputs;
}

Status DoubtingSession::compare_repeats(const Inputs& inputs, const Outputs& outputs,
                                        const Outputs& before) {
  if (same_outputs(outputs, before)) return {};
  const std::string where = disagreement(outputs, before, session_.plan().combination.precision);
  if (where.empty()) return {};
  CLVET_RETURN_IF_ERROR(confirm(inputs, outputs));
  return fault_found({.verdict = Verdict::kNondeterministic, .evidence = where});
}

}  // namespace clvet
