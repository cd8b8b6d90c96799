// The plan of a language model, made or given, and the device that it is for.
#pragma once

#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"

namespace clvet {

struct LanguagePlanRequest {
  const Report& report;
  std::string device = "auto";  // "auto" or a selector of the report's devices
  PlanOverrides words;
  std::string model;                     // SHA-256 of the file; needed for the plan's subject
  const ExecutionPlan* given = nullptr;  // this plan is checked, and no other is made
};

// A plan for each device that is meant and that can run the model, or the given one; as
// plan_network_on().
Result<PlannedDevices> plan_language_on(const LlmConfig& config, const LlmWeights& weights,
                                        const LanguagePlanRequest& request);

}  // namespace clvet
