#include "runtime/plan/evidence.h"

#include <algorithm>

namespace clvet {

DeviceEvidence evidence_of(const Report& report, const std::string& device_id) {
  DeviceEvidence evidence;
  for (const VerdictReport& verdict : report.verdicts) {
    if (verdict.device != device_id) continue;
    VariantEvidence& row = evidence[verdict.variant_key];
    if (verdict.verdict == Verdict::kPass) {
      ++row.passed;
      row.gflops = std::max(row.gflops, verdict.gflops.value_or(0));
    } else {
      if (row.failed == 0) row.worst = verdict.verdict;
      ++row.failed;
    }
  }
  return evidence;
}

}  // namespace clvet
