#include "runtime/precision/device/other_ways.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/exec/session.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/precision/device/device_network.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

constexpr size_t kTriedOn = 2;

std::vector<size_t> first_wrong(const PrecisionDiagnosis& found) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < found.inputs.size() && wrong.size() < kTriedOn; ++i)
    if (!found.inputs[i].right) wrong.push_back(i);
  return wrong;
}

// Nothing where the device cannot run it that way.
Result<std::optional<OtherWay>> try_way(DeviceNetwork& network, const PlanOverrides& words,
                                        const std::vector<size_t>& inputs) {
  const auto ready = network.place().session(words);
  if (!ready && cannot_run_here(ready.error().code)) return std::nullopt;
  if (!ready) return tl::unexpected(ready.error());
  Session& session = **ready;
  const Combination& made = session.plan().combination;
  if (made.precision != *words.precision || made.activations != *words.activations)
    return std::nullopt;
  OtherWay way{to_string(made.precision), to_string(made.activations), true};
  for (const size_t input : inputs) {
    CLVET_ASSIGN_OR_RETURN(const DiagnosedInput row, network.judge(session, input));
    way.right = way.right && row.right;
    for (const DiagnosedOutput& output : row.outputs)
      way.part = std::max(way.part, output.deviation.part());
  }
  CLVET_ASSIGN_OR_RETURN(way.ms, network.measured_ms(session));
  return way;
}

}  // namespace

Result<std::vector<OtherWay>> try_other_ways(DeviceNetwork& network,
                                             const PrecisionDiagnosis& found) {
  CLVET_ASSIGN_OR_RETURN(const Session* as_it_is, network.place().session(network.nothing()));
  const Combination used = as_it_is->plan().combination;
  const std::vector<size_t> inputs = first_wrong(found);
  std::vector<OtherWay> ways;
  for (const Precision precision : {Precision::kLow, Precision::kNormal, Precision::kHigh}) {
    for (const Storage storage : {Storage::kBuffer, Storage::kImage}) {
      const bool lower = precision < used.precision;
      if (lower || (precision == used.precision && storage == used.activations)) continue;
      PlanOverrides words;
      words.precision = precision;
      words.activations = storage;
      CLVET_ASSIGN_OR_RETURN(auto way, try_way(network, words, inputs));
      if (way) ways.push_back(std::move(*way));
    }
  }
  return ways;
}

}  // namespace clvet
