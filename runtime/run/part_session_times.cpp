// The half of a session that compares host and device by their times.
#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/part_session.h"

namespace clvet {

bool PartSession::may_compare() const {
  const PlanOverrides& words = options_.overrides;
  return choice_.device && !options_.plan && options_.device == "auto" &&
         !options_.state_dir.empty() && !options_.strict && !words.precision && !words.memory &&
         !words.activations && !words.weights;
}

std::string PartSession::times_key() const {
  // The shapes of a rest may be others in each run: one that was measured speaks for all.
  std::string shapes;
  for (const auto& [name, type] : types_)
    shapes += is_rest_ ? fmt::format(" {}", name) : fmt::format(" {}={}", name, to_string(type));
  return fmt::format("{} {} {}{}", options_.model_key.substr(0, 16),
                     choice_.device->environment_key.substr(0, 16),
                     to_string(choice_.plan.combination), shapes);
}

// Takes the host where that was measured to be faster.
void PartSession::prefer_host(const MeasuredTimes& times) {
  record_.choice = times;
  if (!times.host_wins()) return;
  take_host(fmt::format("the host is faster: {:.3g} ms instead of {:.3g} ms on {}", times.host_ms,
                        times.device_ms, choice_.device->name));
  leave_device();
}

// The medians of warm runs in turn. The host's are given up once it is behind.
Result<MeasuredTimes> PartSession::measure_both(const Inputs& inputs) {
  CLVET_ASSIGN_OR_RETURN(Session on_host,
                         Session::create(*graph_, plan_on_host(*graph_, "measured"), nullptr));
  constexpr int kSamples = 3;
  std::vector<double> device_ms, host_ms;
  for (int i = 0; i <= kSamples; ++i) {
    const bool warms_up = i == 0;
    double started = monotonic_seconds();
    CLVET_RETURN_IF_ERROR(place_->session.run(inputs));
    device_ms.push_back(ms_since(started));
    const double patience = (warms_up ? 4 : 1.5) * median(device_ms);
    started = monotonic_seconds();
    const auto ran = on_host.run(inputs, nullptr, started + patience * 1e-3);
    const double took = ms_since(started);
    if (!ran && ran.error().code == ErrorCode::kDeadlineExceeded)
      return MeasuredTimes{median(device_ms), took};
    if (!ran) return tl::unexpected(ran.error());
    if (!warms_up) host_ms.push_back(took);
  }
  return MeasuredTimes{median(device_ms), median(host_ms)};
}

Status PartSession::compare_places(const Inputs& inputs) {
  if (!options_.compares_places || !may_compare() || record_.choice) return {};
  CLVET_ASSIGN_OR_RETURN(const MeasuredTimes times, measure_both(inputs));
  if (const auto kept = MeasuredTimesFile(times_file()).keep(times_key(), times); !kept)
    warn(fmt::format("the measured times could not be saved; the next run measures them again: {}",
                     kept.error().message));
  prefer_host(times);
  return {};
}

}  // namespace clvet
