#include "runtime/plan/evidence.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

// Of the case "<variant>/<shape>"; nullptr where the manifest has no such shape any more.
const TestShape* shape_of(const VerdictReport& verdict, const Manifest& manifest) {
  const std::string_view name =
      std::string_view(verdict.case_name).substr(verdict.case_name.rfind('/') + 1);
  const auto found = std::find_if(manifest.tests.begin(), manifest.tests.end(),
                                  [&](const TestShape& shape) { return shape.name == name; });
  return found == manifest.tests.end() ? nullptr : &*found;
}

// As it would have been where a launch alone took what the peaks say: a host that was slow for a
// while then, or fast, was so for both. `us`: of the peaks.
double with_launch_of(double ms, const std::optional<double>& launch_ms,
                      const std::optional<double>& us) {
  if (!launch_ms || !us || ms <= 0) return ms;
  constexpr double kLeastShare = 0.02;
  return std::max(ms - *launch_ms, kLeastShare * ms) + *us * 1e-3;
}

void add_time(const VerdictReport& verdict, const PeaksReport& peaks, const VariantTable& table,
              VariantEvidence& row) {
  const Manifest* manifest = table.catalog().find(verdict.kernel);
  const TestShape* shape = manifest ? shape_of(verdict, *manifest) : nullptr;
  const OpContract* contract = manifest ? find_op_contract(manifest->op) : nullptr;
  if (!(verdict.median_ms > 0.0) || !shape || !contract) return;
  const auto roles = contract->roles(shape->dims);
  if (!roles) return;
  row.timed.push_back({work_of(manifest->op, shape->dims, *roles, verdict.combination.precision,
                               verdict.weight_type.value_or(WeightType::kFloat)),
                       with_launch_of(*verdict.median_ms, verdict.launch_ms, peaks.launch_us),
                       with_launch_of(verdict.piped_ms.value_or(0), verdict.piped_launch_ms,
                                      peaks.piped_launch_us)});
}

// A variant that failed in use, or (no name) all of them.
void distrust(const Tombstone& tombstone, const VariantTable& table, DeviceEvidence& evidence) {
  for (const TableRow& row : table.rows()) {
    if (!tombstone.variant.empty() && tombstone.variant != row.name) continue;
    // One that was never tried may have failed in `clvet tune`.
    const bool tried = evidence.variants.contains(row.program->variant_key);
    if (!tried && tombstone.variant.empty()) continue;
    VariantEvidence& found = evidence.variants[row.program->variant_key];
    if (found.failed++ == 0) found.worst = tombstone.verdict;
  }
}

// What failed in use counts for no call any more.
bool failed_in_use(const Report& report, const DeviceReport& device, const std::string& variant) {
  return std::any_of(report.tombstones.begin(), report.tombstones.end(), [&](const auto& row) {
    return row.environment_key == device.environment_key &&
           (row.variant.empty() || row.variant == variant);
  });
}

void add_tuned(const Report& report, const DeviceReport& device, DeviceEvidence& evidence) {
  for (const TunedCall& call : report.tuned) {
    if (call.environment_key != device.environment_key) continue;
    TunedVariants& rows = evidence.tuned[call.call];
    for (const TunedVariant& one : call.variants) {
      TunedVariant& row = rows[one.variant_key] = one;
      if (row.verdict == Verdict::kPass && failed_in_use(report, device, one.variant))
        row.verdict = Verdict::kWrong;
    }
  }
}

}  // namespace

DeviceEvidence evidence_of(const Report& report, const DeviceReport& device,
                           const VariantTable& table) {
  DeviceEvidence evidence;
  double best_gflops = 0;
  for (const VerdictReport& verdict : report.verdicts) {
    if (verdict.device != device.id) continue;
    VariantEvidence& row = evidence.variants[verdict.variant_key];
    if (verdict.verdict == Verdict::kPass) {
      ++row.passed;
      add_time(verdict, device.peaks, table, row);
      best_gflops = std::max(best_gflops, verdict.gflops.value_or(0));
    } else if (verdict.verdict != Verdict::kMissing) {
      if (row.failed++ > 0) continue;
      row.worst = verdict.verdict;
      if (verdict.verdict == Verdict::kNotTried) row.why = verdict.evidence.note;
    }
  }
  for (const Tombstone& row : report.tombstones) {
    if (row.environment_key == device.environment_key) distrust(row, table, evidence);
  }
  add_tuned(report, device, evidence);
  evidence.cost =
      CostModel(device.peaks, is_processor(device), best_gflops, features_of(device).compute_units);
  return evidence;
}

}  // namespace clvet
