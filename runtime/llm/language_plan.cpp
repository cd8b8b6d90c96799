#include "runtime/llm/language_plan.h"

#include <utility>

#include "base/result.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/subject.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

Result<PlannedDevices> take_given(const LlmConfig& config, const LlmWeights& weights,
                                  const LanguagePlanRequest& request) {
  CLVET_RETURN_IF_ERROR(check_subject(request.given->subject, language_subject(request.model)));
  CLVET_ASSIGN_OR_RETURN(PlannedDevice place, device_of_plan(&request.report, *request.given));
  CLVET_RETURN_IF_ERROR(DecoderPlanner(config, weights, *place.chooser).check(place.plan));
  PlannedDevices found;
  found.rows.push_back(std::move(place));
  return found;
}

}  // namespace

Result<PlannedDevices> plan_language_on(const LlmConfig& config, const LlmWeights& weights,
                                        const LanguagePlanRequest& request) {
  if (request.given) return take_given(config, weights, request);
  CLVET_ASSIGN_OR_RETURN(
      PlannedDevices found,
      plan_on_devices(request.report, request.device, [&](const VariantChooser& chooser) {
        return DecoderPlanner(config, weights, chooser).plan(request.words);
      }));
  for (PlannedDevice& row : found.rows) {
    row.plan.subject = language_subject(request.model);
    row.plan.residual_scale = config.residual_scale;
    set_device(row.device, row.plan.subject);
  }
  return found;
}

}  // namespace clvet
