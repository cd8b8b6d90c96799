// What a report says of each kernel variant on one device: the planner's only source of trust.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct VariantEvidence {
  int passed = 0, failed = 0;
  Verdict worst = Verdict::kMissing;  // of the failed cases, the first
  std::vector<TimedLaunch> timed;     // the cases that were
  std::string why;                    // of kNotTried: what ended kernels like it; may be empty
  bool trusted() const { return passed > 0 && failed == 0; }
};

// By variant key.
using TunedVariants = std::map<std::string, TunedVariant, std::less<>>;

struct DeviceEvidence {
  std::map<std::string, VariantEvidence, std::less<>> variants;  // by variant key; only those tried
  std::map<std::string, TunedVariants, std::less<>> tuned;       // by name_of_call()
  CostModel cost;
};

DeviceEvidence evidence_of(const Report& report, const DeviceReport& device,
                           const VariantTable& table);

}  // namespace clvet
