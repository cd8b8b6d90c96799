#include "runtime/run/joined_record.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "runtime/plan/plan.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/run_record.h"

namespace clvet {
namespace {

ptrdiff_t nodes_on_device(const RunRecord& record) {
  return std::ranges::count(record.nodes, Place::kDevice, &NodeRecord::place);
}

std::string joined_devices(const std::string& first, const std::string& rest) {
  if (first == rest || rest == "host") return first;
  return first == "host" ? rest : first + ", " + rest;
}

// One that was not compared takes the same time in both places.
std::optional<MeasuredTimes> joined_choice(const RunRecord& first, const RunRecord& rest) {
  if (!first.choice || !rest.choice) return first.choice ? first.choice : rest.choice;
  return MeasuredTimes{first.choice->device_ms + rest.choice->device_ms,
                       first.choice->host_ms + rest.choice->host_ms};
}

}  // namespace

RunRecord joined(RunRecord first, const RunRecord& rest) {
  if (nodes_on_device(rest) > nodes_on_device(first)) {
    first.combination = rest.combination;
    first.refused = rest.refused;
    first.not_best = rest.not_best;
  }
  first.device = joined_devices(first.device, rest.device);
  first.nodes.insert(first.nodes.end(), rest.nodes.begin(), rest.nodes.end());
  for (const Fallback& row : rest.fallbacks) {
    if (std::ranges::find(first.fallbacks, row) == first.fallbacks.end())
      first.fallbacks.push_back(row);
  }
  first.load_ms += rest.load_ms;
  first.plan_ms += rest.plan_ms;
  first.build_ms += rest.build_ms;
  first.first_ms += rest.first_ms;
  first.programs.compiled += rest.programs.compiled;
  first.programs.loaded += rest.programs.loaded;
  first.choice = joined_choice(first, rest);
  first.checked_every = std::max(first.checked_every, rest.checked_every);
  return first;
}

}  // namespace clvet
