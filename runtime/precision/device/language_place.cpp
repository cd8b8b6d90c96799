#include "runtime/precision/device/language_place.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/result.h"
#include "runtime/exec/device.h"
#include "runtime/exec/device_decoder.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/step_answer.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/language_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/logits.h"

namespace clvet {

Result<std::unique_ptr<DeviceText>> DeviceText::open(const GgufFile& file, const LlmConfig& config,
                                                     const DeviceTarget& target,
                                                     const PlanOverrides& words,
                                                     OpenedDevice& opened) {
  std::unique_ptr<DeviceText> text(new DeviceText(file, config));
  CLVET_ASSIGN_OR_RETURN(PlannedDevices found, plan_language_on(text->config_, text->weights_,
                                                                {*target.report, target.device,
                                                                 words, target.model_key}));
  if (found.rows.empty())
    return fail(ErrorCode::kUnavailable, "no device runs the model that way: {}", found.reason);
  text->place_ = std::move(found.rows.front());
  if (words.precision) CLVET_RETURN_IF_ERROR(check_precision(text->place_, *words.precision));
  if (!opened.device) {
    CLVET_ASSIGN_OR_RETURN(opened.device, Device::open(text->device(), opened.flight));
  }
  CLVET_ASSIGN_OR_RETURN(text->decoder_, DeviceDecoder::create(*opened.device, text->config_,
                                                               text->weights_, text->plan()));
  CLVET_ASSIGN_OR_RETURN(text->witness_,
                         HostDecoder::witness(text->config_, text->weights_, kRowsOfAStep, true));
  return text;
}

Status DeviceText::run(std::span<const int32_t> tokens, DecoderEmulation& exact, LogitsJudge& judge,
                       const Seen& seen) {
  const std::vector<DecoderCall>& calls = exact.calls(1);
  std::vector<double> samples;
  for (size_t at = 0; at < tokens.size(); ++at) {
    const DecoderStep step{1, static_cast<int64_t>(at)};
    CLVET_RETURN_IF_ERROR(exact.begin(TextKind::kExact, tokens.subspan(at, 1)));
    size_t next = 0;
    const auto run_until = [&](const std::string& name) -> Status {
      while (next < calls.size() && (next == 0 || calls[next - 1].name != name))
        CLVET_RETURN_IF_ERROR(exact.run(TextKind::kExact, calls[next++], step));
      return {};
    };
    Status compared;
    Checker checker{[&](const StepAnswer& answer) {
      if (answer.node.empty()) return;
      if (compared) compared = run_until(call_of_part(answer.node));
      if (compared) compared = seen(answer, step);
    }};
    CLVET_ASSIGN_OR_RETURN(const auto hidden, weights_.embeddings(tokens.subspan(at, 1)));
    const double started = monotonic_seconds();
    const auto logits = seen ? decoder_->check(hidden, 1, step.position, true, *witness_, checker)
                             : decoder_->step(hidden, 1, step.position, true);
    samples.push_back(ms_since(started));
    if (!logits) return tl::unexpected(logits.error());
    CLVET_RETURN_IF_ERROR(compared);
    CLVET_RETURN_IF_ERROR(run_until(""));
    judge.add(*logits, exact.values(TextKind::kExact, "logits", step, true));
  }
  ms_ = samples.empty() ? 0 : median(std::move(samples));
  return {};
}

}  // namespace clvet
