#include "runtime/precision/device/diagnose_language_on_device.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/step_answer.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/precision/device/language_place.h"
#include "runtime/precision/diagnose_language.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/language_model.h"
#include "runtime/precision/logits.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"
#include "runtime/run/history.h"

namespace clvet {
namespace {

// The emulation with the device's own errors: what it makes of what it has is the call's, what it
// has beside float32 is that of all calls before, too.
class DeviceLanguage : public LanguageModel {
 public:
  DeviceLanguage(DecoderEmulation& emulation, const std::vector<LanguageInput>& inputs,
                 double target, DeviceText& text)
      : LanguageModel(emulation, inputs, target), text_(text) {
    const auto& calls = emulation.calls();
    for (size_t n = 0; n < calls.size(); ++n) index_[calls[n].name] = n;
  }

  Result<Look> look(size_t index) override {
    CLVET_ASSIGN_OR_RETURN(Look look, LanguageModel::look(index));
    std::vector<std::optional<Blame>> blames;
    for (WatchedNode& node : look.seen.nodes) {
      blames.push_back(std::move(node.blame));
      node.isolated = node.cumulative = {};
      node.constant = false;
      node.blame.reset();
    }
    const auto seen = [&](const StepAnswer& answer, DecoderStep step) {
      return compare(answer, step, look.seen.nodes);
    };
    LogitsJudge judge;
    CLVET_RETURN_IF_ERROR(text_.run(input(index).tokens, emulation(), judge, seen));
    const double bound = isolated_bound(emulation().rules().format);
    for (size_t n = 0; n < blames.size(); ++n) {
      WatchedNode& node = look.seen.nodes[n];
      if (node.isolated.part() > bound) node.blame = blames[n] ? blames[n] : kernels_fault(n);
    }
    auto ranges = std::move(look.input.ranges);
    look.input = judged(index, judge);
    look.input.ranges = std::move(ranges);
    return look;
  }

  // What the device makes of it with the residual stream at that scale.
  Result<DiagnosedInput> on(DeviceText& text, size_t index) {
    LogitsJudge judge;
    CLVET_RETURN_IF_ERROR(text.run(input(index).tokens, emulation(), judge));
    return judged(index, judge);
  }

 private:
  Status compare(const StepAnswer& answer, DecoderStep step, std::vector<WatchedNode>& nodes) {
    const auto found = index_.find(call_of_part(answer.node));
    if (found == index_.end())
      return fail(ErrorCode::kInternal, "the plan has a call '{}' that the model does not have",
                  answer.node);
    WatchedNode& node = nodes[found->second];
    const auto device = answer.device.values<float>();
    Deviation alone, all;
    alone.add(device, answer.host.values<float>());
    keep_worst(alone, node.isolated);
    const auto exact = emulation().values(TextKind::kExact, answer.value, step, true);
    if (exact.size() != device.size()) return {};
    all.add(device, exact);
    keep_worst(all, node.cumulative);
    node.constant |= all_alike(device) && !all_alike(exact);
    return {};
  }
  Blame kernels_fault(size_t n) {
    const auto& tensors = emulation().calls()[n].tensors;
    const auto y = tensors.find("y");
    Blame blame{PrecisionFault::kArithmetic, FaultPlace::kInside};
    blame.value = y == tensors.end() ? "" : y->second;
    return blame;
  }

  DeviceText& text_;
  std::map<std::string, size_t> index_;  // of calls, by name
};

PlanOverrides words_of(Precision precision) {
  PlanOverrides words;
  words.precision = precision;
  return words;
}

// A device with one decoder at a time, for what is tried once the model was looked at.
class LanguagePlace {
 public:
  LanguagePlace(const GgufFile& file, const LlmConfig& config, const DeviceTarget& target,
                OpenedDevice& opened)
      : file_(file), config_(config), target_(target), opened_(opened) {}

  Result<std::unique_ptr<DeviceText>> at_scale(double scale) const {
    LlmConfig config = config_;
    config.residual_scale = scale;
    return DeviceText::open(file_, config, target_, words_of(target_.precision), opened_);
  }
  Result<std::unique_ptr<DeviceText>> by(const PlanOverrides& words) const {
    return DeviceText::open(file_, config_, target_, words, opened_);
  }

 private:
  const GgufFile& file_;
  const LlmConfig& config_;
  const DeviceTarget& target_;
  OpenedDevice& opened_;
};

// Whether the scale that the emulation found does on the device, for all inputs.
Status try_scale(DeviceLanguage& model, const LanguagePlace& place, DeviceDiagnosis& diagnosis) {
  PrecisionPlan& plan = *diagnosis.found.plan;
  if (!plan.rescale || !plan.rescale->right) return {};
  CLVET_ASSIGN_OR_RETURN(const auto text, place.at_scale(plan.rescale->factor));
  std::vector<DiagnosedInput> after;
  for (size_t i = 0; i < model.inputs(); ++i) {
    CLVET_ASSIGN_OR_RETURN(DiagnosedInput row, model.on(*text, i));
    plan.rescale->right = plan.rescale->right && row.right;
    after.push_back(std::move(row));
  }
  plan.rescale->after = std::move(after);
  if (!plan.rescale->right) return {};
  diagnosis.found.measured = PlanTimes{0, text->ms_of_a_token(), 0};
  diagnosis.plan = text->plan();
  return {};
}

// Milliseconds of a token, nothing changed, and by the plan that `clvet generate` would make.
Status measure(DeviceLanguage& model, const LanguagePlace& place, Precision precision,
               DeviceDiagnosis& diagnosis) {
  const auto ms_of = [&](const PlanOverrides& words) -> Result<double> {
    CLVET_ASSIGN_OR_RETURN(const auto text, place.by(words));
    CLVET_RETURN_IF_ERROR(model.on(*text, 0));
    return text->ms_of_a_token();
  };
  PrecisionDiagnosis& found = diagnosis.found;
  if (!found.measured) found.measured.emplace();
  CLVET_ASSIGN_OR_RETURN(found.measured->low, ms_of(words_of(precision)));
  CLVET_ASSIGN_OR_RETURN(found.measured->high, ms_of(words_of(Precision::kHigh)));
  CLVET_ASSIGN_OR_RETURN(const double usual_ms, ms_of(PlanOverrides()));
  const double planned_ms = found.plan ? found.measured->raised : found.measured->low;
  diagnosis.faster = diagnosis.plan && is_clearly_less(planned_ms, usual_ms);
  return {};
}

}  // namespace

Result<DeviceDiagnosis> diagnose_language_on_device(const GgufFile& file, const LlmConfig& config,
                                                    const std::vector<LanguageInput>& inputs,
                                                    const DiagnoseOptions& options,
                                                    const DeviceTarget& target) {
  DeviceDiagnosis diagnosis;
  diagnosis.opened = std::make_shared<OpenedDevice>(History(target.state_dir).flight(true));
  const LanguagePlace place(file, config, target, *diagnosis.opened);
  const LlmWeights weights(file, config);
  CLVET_ASSIGN_OR_RETURN(const auto emulation, emulation_for(config, weights, inputs, options));
  std::optional<DeviceLanguage> model;
  CLVET_ASSIGN_OR_RETURN(auto text, place.at_scale(1));
  const std::string device = text->device().name;
  model.emplace(*emulation, inputs, options.target, *text);
  CLVET_ASSIGN_OR_RETURN(diagnosis.found, diagnose_emulated(*emulation, *model, options));
  diagnosis.found.place = device;
  if (diagnosis.found.stopped) return diagnosis;
  if (!diagnosis.found.plan) diagnosis.plan = text->plan();
  text.reset();
  Status done;
  if (diagnosis.found.plan) done = try_scale(*model, place, diagnosis);
  if (done) done = measure(*model, place, target.precision, diagnosis);
  if (!done) diagnosis.found.stopped = done.error();
  return diagnosis;
}

}  // namespace clvet
