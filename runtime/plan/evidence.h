// What a report says of each kernel variant on one device: the planner's only source of trust.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "probe/report/report.h"

namespace clvet {

struct VariantEvidence {
  int passed = 0, failed = 0;
  Verdict worst = Verdict::kMissing;  // of the failed cases, the first
  double gflops = 0;                  // best timed case
  bool trusted() const { return passed > 0 && failed == 0; }
};

// By variant key. A variant that was not tried is not in it.
using DeviceEvidence = std::map<std::string, VariantEvidence, std::less<>>;
DeviceEvidence evidence_of(const Report& report, const std::string& device_id);

}  // namespace clvet
