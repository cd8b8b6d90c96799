#include "runtime/run/ladder.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/report/tombstones.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {
namespace {

// On the first rung the variant goes, on the second the precision, on the third the storage too.
constexpr int kPrecisionRung = 2, kStorageRung = 3, kMostRungs = 4;

// Values that a higher precision can hold.
bool asks_for_precision(const Fault& fault, const Combination& used) {
  return fault.range && used.precision != Precision::kHigh;
}

}  // namespace

std::string cause_of(const DeviceReport& device, const Combination& used, const Fault& fault) {
  const std::string why =
      fault.node.empty() ? fault.evidence : fmt::format("at '{}' {}", fault.node, fault.evidence);
  if (asks_for_precision(fault, used))
    return fmt::format("values exceed the range of the precision of {} on {} ({})", to_string(used),
                       device.name, why);
  if (fault.variant == kMapReads)
    return fmt::format("buffers of {} are not mapped any more ({})", device.name, why);
  if (fault.variant.empty()) return fmt::format("{} is not used any more ({})", device.name, why);
  return fmt::format("kernel {} is not used on {} any more ({})", fault.variant, device.name, why);
}

void Ladder::tell(const DeviceReport& device, const Combination& used, const Fault& fault,
                  const std::function<void(const std::string&)>& warn) {
  Status kept;
  if (asks_for_precision(fault, used)) {
    kept = history_.keep_precision(model_key_, device.environment_key, Precision::kHigh);
  } else {
    const Tombstone tombstone = tombstone_of(device.environment_key, fault);
    kept = history_.bury(tombstone);
    if (!changed_) changed_ = *report_;
    bury({tombstone}, *changed_);
    report_ = &*changed_;
  }
  if (!kept) warn(fmt::format("the fault could not be noted: {}", kept.error().message));
}

bool Ladder::step_down(const DeviceReport& device, const Combination& used, const Fault& fault,
                       const std::function<void(const std::string&)>& warn) {
  ++rungs_;
  if (first_.empty()) {
    first_ = cause_of(device, used, fault);
  } else {
    ++more_;
  }
  steps_.push_back({fault.node.empty() ? "*" : fault.node,
                    fault.variant.empty() ? device.name : fault.variant, "",
                    to_string(fault.verdict)});
  const bool raise = asks_for_precision(fault, used);
  tell(device, used, fault, warn);
  if (raise || rungs_ >= kPrecisionRung) words_.precision = Precision::kHigh;
  if (rungs_ >= kStorageRung) words_.activations = words_.weights = Storage::kBuffer;
  return rungs_ < kMostRungs;
}

void Ladder::give_up(const std::string& device, const std::string& why) {
  ++rungs_;
  if (first_.empty()) first_ = fmt::format("{} failed ({})", device, why);
  steps_.push_back({"*", device, "", to_string(Verdict::kLaunchError)});
}

std::string Ladder::said(const std::optional<Combination>& now) {
  const std::string where = now ? to_string(*now) : "host";
  for (Fallback& step : steps_) {
    if (step.to.empty()) step.to = where;
  }
  if (first_.empty()) return {};
  std::string cause = std::exchange(first_, {});
  const int more = std::exchange(more_, 0);
  if (more > 0) cause = fmt::format("{}; the first of {} faults", cause, more + 1);
  return now ? fmt::format("{}; the answer was computed again with {}", cause, where)
             : fmt::format("{}; the answer was computed again on the host", cause);
}

}  // namespace clvet
