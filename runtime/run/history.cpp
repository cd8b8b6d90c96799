#include "runtime/run/history.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/row_file.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/report/tombstones.h"
#include "probe/report/tuned.h"
#include "runtime/cache/program_cache.h"
#include "runtime/exec/flight.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"

namespace clvet {
namespace {

// How bytes come and go. With another way comes another word: what was confirmed was confirmed of
// the old one.
constexpr const char* kTransfers = "pinned";

constexpr size_t kMostRows = 500;
constexpr size_t kKeyDigits = 16;

RowFile rows_of(const std::string& file) { return {file, "clvet.checks/1", kMostRows}; }

std::string key_of(const char* what, const std::string& model, const std::string& environment_key) {
  return fmt::format("{} {} {}", what, model.substr(0, kKeyDigits),
                     environment_key.substr(0, kKeyDigits));
}

std::string precision_key(const std::string& model, const std::string& environment_key) {
  return key_of("precision", model, environment_key);
}

std::string mixed_key(const std::string& model, const std::string& environment_key) {
  return key_of("mixed", model, environment_key);
}

Verdict verdict_of(std::optional<Stage> stage) {
  if (stage == Stage::kBuild) return Verdict::kBuildError;
  return stage == Stage::kCreateKernel ? Verdict::kKernelCreateFailed : Verdict::kLaunchError;
}

std::string flights(const std::string& folder) { return folder + "/flights"; }

// Of a start that had binaries of programs in hand, or in use.
std::string reason_of_end(const FlightSnapshot& lost, Verdict verdict) {
  const bool hung = verdict == Verdict::kHang;
  if (lost.binary == kAllPrograms) {
    return hung
               ? "the driver did not return when it was asked for the binary of a program; "
                 "programs are compiled at each start"
               : "the driver ended an earlier start when it was asked for the binary of a program; "
                 "programs are compiled at each start";
  }
  if (!lost.binary.empty()) {
    return fmt::format(
        fmt::runtime(hung
                         ? "the driver did not return when it loaded the saved program of {}; that "
                           "program is compiled at each start"
                         : "the driver ended an earlier start when it loaded the saved program of "
                           "{}; that program is compiled at each start"),
        lost.variant);
  }
  return hung
             ? "the driver did not return while programs came of saved binaries; they are compiled "
               "at each start"
             : "the driver ended an earlier start while programs came of saved binaries; they are "
               "compiled at each start";
}

}  // namespace

bool is_due(const CheckRhythm& rhythm, const std::optional<double>& rate) {
  if (!rate) return rhythm.since + 1 >= rhythm.every;
  return *rate > 0 && static_cast<double>(rhythm.since + 1) * *rate >= 1;
}

bool is_too_fast(const CheckRhythm& rhythm, double ms) { return 4 * ms < rhythm.ms; }

CheckRhythm rhythm_after_check(double ms, double checking_ms, bool odd) {
  return {inferences_between_checks(ms + checking_ms, ms, kDefaultShare), 0, odd, ms};
}

int64_t inferences_between_checks(double check_ms, double inference_ms, double share) {
  constexpr double kMost = 1e6;
  if (!(inference_ms > 0) || !(share > 0)) return static_cast<int64_t>(kMost);
  return static_cast<int64_t>(std::clamp(std::ceil(check_ms / (share * inference_ms)), 1.0, kMost));
}

Fault fault_of(const FlightSnapshot& flight, const Error& error) {
  std::string at_fault = flight.variant_is_known() ? flight.variant : "";
  if (flight.stage == Stage::kMap) at_fault = kMapReads;
  if (flight.stage == Stage::kRead) at_fault.clear();
  return {.variant = std::move(at_fault),
          .verdict = verdict_of(flight.stage),
          .stage = flight.stage.value_or(Stage::kLoad),
          .evidence = error.message};
}

std::optional<Fault> fault_of(const FlightSnapshot& lost) {
  const bool working = lost.inside || lost.pending > 0;
  if (!working || !lost.stage || lost.environment_key.empty() || lost.finished) return std::nullopt;
  Fault fault{.verdict = Verdict::kCrash, .stage = *lost.stage};
  if (lost.variant_is_known()) fault.variant = lost.variant;
  if (lost.inside && lost.pending == 0 && fault.stage == Stage::kMap) fault.variant = kMapReads;
  fault.evidence = "an earlier start ended while the driver worked";
  return fault;
}

void History::tell(Report& report) const {
  if (folder_.empty()) return;
  for (const FlightSnapshot& lost : lost_flights(flights(folder_))) {
    (void)learn_from(lost, Verdict::kCrash, "an earlier start ended while the driver worked");
  }
  clvet::bury(read_tombstones(tombstones_file(folder_)), report);
  if (auto tuned = read_tuned(tuned_file(folder_))) add_tuned(std::move(tuned->calls), report);
}

bool History::learn_from(const FlightSnapshot& lost, Verdict verdict,
                         const std::string& evidence) const {
  auto fault = fault_of(lost);
  if (folder_.empty() || !fault) return false;
  if (lost.used_binaries || !lost.binary.empty()) {
    ProgramCache cache(program_cache_folder(folder_), lost.environment_key, "");
    const bool all = lost.binary.empty() || cache.distrusts_some();
    cache.distrust(all ? kAllPrograms : lost.binary, reason_of_end(lost, verdict), false);
    return true;
  }
  fault->verdict = verdict;
  fault->evidence = evidence;
  return bury(tombstone_of(lost.environment_key, *fault)).has_value();
}

ProgramCache History::programs(const DeviceReport& device) const {
  return {program_cache_folder(folder_), device.environment_key, device.name};
}

bool History::saw_death(const Report& report) {
  return std::any_of(report.tombstones.begin(), report.tombstones.end(), [](const auto& row) {
    return row.verdict == Verdict::kCrash || row.verdict == Verdict::kHang;
  });
}

Tombstone tombstone_of(const std::string& environment_key, const Fault& fault) {
  return {.environment_key = environment_key,
          .variant = fault.variant,
          .verdict = fault.verdict,
          .stage = fault.stage,
          .evidence = fault.evidence,
          .date = utc_now()};
}

Status History::bury(const Tombstone& tombstone) const {
  if (folder_.empty()) return {};
  CLVET_RETURN_IF_ERROR(add_tombstone(tombstones_file(folder_), tombstone));
  return rows_of(checks_file()).change([&](RowFile::Rows& rows) {
    std::erase_if(rows, [&](const auto& row) {
      return row_text(row.second, "environment_key") == tombstone.environment_key;
    });
  });
}

Flight History::flight(bool synced) const {
  if (folder_.empty()) return Flight();
  auto flight = Flight::in_folder(flights(folder_), synced);
  return flight ? std::move(*flight) : Flight();
}

std::string History::key_of(const ExecutionPlan& plan) {
  Sha256 hash;
  hash.add_field(plan.subject.model).add_field(plan.subject.environment_key);
  hash.add_field(to_string(plan.combination)).add_field(kTransfers);
  for (const auto& [name, shape] : plan.subject.inputs) {
    hash.add_field(name).add_field(to_string(TensorType{DType::kF32, shape}));
  }
  for (const PlanPhase& phase : plan.phases) {
    for (const PlanStep& step : phase.steps) hash.add_field(step.variant);
  }
  return "plan " + hash.hex().substr(0, 2 * kKeyDigits);
}

std::optional<CheckRhythm> History::rhythm(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const RowFile::Rows rows = rows_of(checks_file()).read();
  const auto found = rows.find(key);
  if (found == rows.end()) return std::nullopt;
  const auto every = row_number(found->second, "every"), since = row_number(found->second, "since");
  if (!every || !since || *every < 1) return std::nullopt;
  return CheckRhythm{static_cast<int64_t>(std::min(*every, 1e9)),
                     static_cast<int64_t>(std::min(*since, 1e9)),
                     found->second.value("odd", nlohmann::json()) == true,
                     row_number(found->second, "ms").value_or(0)};
}

Status History::keep(const std::map<std::string, CheckRhythm>& rhythms,
                     const std::string& environment_key) const {
  if (folder_.empty() || rhythms.empty()) return {};
  return rows_of(checks_file())
      .change(
          [&](RowFile::Rows& rows) {
            for (const auto& [key, rhythm] : rhythms) {
              rows[key] = {{"environment_key", environment_key},
                           {"every", rhythm.every},
                           {"since", rhythm.since},
                           {"odd", rhythm.odd},
                           {"ms", rhythm.ms},
                           {"at", seconds_of_today()}};
            }
          },
          Sync::kLater);
}

std::optional<Precision> History::needed_precision(const std::string& model,
                                                   const std::string& environment_key) const {
  if (folder_.empty()) return std::nullopt;
  const RowFile::Rows rows = rows_of(checks_file()).read();
  const auto found = rows.find(precision_key(model, environment_key));
  return found == rows.end() ? std::nullopt : parse_precision(row_text(found->second, "precision"));
}

Status History::keep_precision(const std::string& model, const std::string& environment_key,
                               Precision precision) const {
  if (folder_.empty()) return {};
  return rows_of(checks_file()).change([&](RowFile::Rows& rows) {
    rows[precision_key(model, environment_key)] = {{"precision", to_string(precision)},
                                                   {"at", seconds_of_today()}};
    rows.erase(mixed_key(model, environment_key));
  });
}

std::optional<History::MixedPrecision> History::mixed_precision(
    const std::string& model, const std::string& environment_key) const {
  if (folder_.empty()) return std::nullopt;
  const RowFile::Rows rows = rows_of(checks_file()).read();
  const auto found = rows.find(mixed_key(model, environment_key));
  if (found == rows.end()) return std::nullopt;
  const auto precision = parse_precision(row_text(found->second, "precision"));
  const auto raised = found->second.find("raised");
  if (!precision || raised == found->second.end() || !raised->is_array()) return std::nullopt;
  MixedPrecision mixed{.precision = *precision};
  mixed.faster = found->second.value("faster", nlohmann::json()) == true;
  mixed.residual_scale = row_number(found->second, "residual_scale").value_or(1);
  for (const auto& node : *raised) {
    if (!node.is_string()) return std::nullopt;
    mixed.raised.insert(node.get<std::string>());
  }
  return mixed;
}

std::optional<History::MixedPrecision> History::known_precision(
    const std::string& model, const std::string& environment_key,
    std::optional<Precision> wanted) const {
  if (const auto mixed = mixed_precision(model, environment_key)) {
    const bool changes = !mixed->raised.empty() || mixed->residual_scale != 1;
    const bool asked = wanted == mixed->precision && changes;
    if (asked || (!wanted && mixed->faster)) return mixed;
  }
  if (wanted) return std::nullopt;
  const auto needed = needed_precision(model, environment_key);
  return needed ? std::optional(MixedPrecision{.precision = *needed}) : std::nullopt;
}

Status History::keep_mixed(const std::string& model, const std::string& environment_key,
                           const MixedPrecision& mixed) const {
  if (folder_.empty()) return {};
  return rows_of(checks_file()).change([&](RowFile::Rows& rows) {
    rows[mixed_key(model, environment_key)] = {{"environment_key", environment_key},
                                               {"precision", to_string(mixed.precision)},
                                               {"raised", mixed.raised},
                                               {"residual_scale", mixed.residual_scale},
                                               {"faster", mixed.faster},
                                               {"at", seconds_of_today()}};
  });
}

}  // namespace clvet
