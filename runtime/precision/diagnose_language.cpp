#include "runtime/precision/diagnose_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/precision/answer.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/logits.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch_text.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

constexpr const char* kResidual = "hidden";

Wiring wiring_of(DecoderEmulation& emulation) {
  Wiring wiring;
  std::map<std::string, int> writer;
  for (const DecoderCall& call : emulation.calls()) {
    std::vector<Wire>& wires = wiring.emplace_back();
    for (const std::string& role : DecoderEmulation::roles_read(call)) {
      Wire& wire = wires.emplace_back();
      wire.value = call.tensors.find(role)->second;
      wire.constant = !emulation.is_buffer(wire.value);
      const auto from = writer.find(wire.value);
      if (from != writer.end()) wire.from = from->second;
      if (from == writer.end() && wire.value == kResidual) wire.given = 0;
    }
    for (const auto& [role, name] : call.tensors)
      if (call.writes(role)) writer[name] = static_cast<int>(wiring.size()) - 1;
  }
  return wiring;
}

class LanguageModel : public DiagnosedModel {
 public:
  LanguageModel(DecoderEmulation& emulation, const std::vector<LanguageInput>& inputs,
                double target)
      : emulation_(emulation), inputs_(inputs), target_(target), wiring_(wiring_of(emulation)) {}

  size_t inputs() const override { return inputs_.size(); }
  const Wiring& wiring() const override { return wiring_; }
  std::vector<DiagnosedNode> nodes() const override {
    std::vector<DiagnosedNode> nodes;
    for (const DecoderCall& call : emulation_.calls()) nodes.push_back({call.name, call.op});
    return nodes;
  }

  // The fewest calls: which are the dearest differs from device to device.
  double cost(const Raised& raised, std::span<const DiagnosedNode>) override {
    return static_cast<double>(std::count(raised.begin(), raised.end(), true));
  }

  Result<Look> look(size_t input) override {
    auto watched = watch_text(emulation_, inputs_[input].tokens);
    if (!watched) return wrap(watched.error(), inputs_[input].name);
    normed_.push_back(std::move(watched->normed));
    allowed_.push_back(target_ * target_ * watched->logits.reference_squares());
    Look look{judged(input, watched->logits), std::move(watched->seen)};
    look.input.ranges[kResidual] = watched->residual;
    return look;
  }

  Result<DiagnosedInput> with(const Raised& raised, size_t input, Detail detail) override {
    CLVET_ASSIGN_OR_RETURN(const LogitsJudge judge,
                           compute(raised, input, detail == Detail::kWhetherRight));
    return judged(input, judge);
  }

 private:
  DiagnosedInput judged(size_t input, const LogitsJudge& judge) const {
    DiagnosedInput row;
    row.name = inputs_[input].name;
    row.outputs.push_back(judge.output());
    row.right = all_right(row.outputs, target_);
    return row;
  }

  // Where `hasty`, it ends when the answer is wrong. Steps begin with one token and double: what
  // overflows shows in the first ones.
  Result<LogitsJudge> compute(const Raised& raised, size_t input, bool hasty) {
    const std::span<const int32_t> tokens = inputs_[input].tokens;
    LogitsJudge judge;
    judge.allow(allowed_[input]);
    for (size_t done = 0; done < tokens.size() && !(hasty && judge.hopeless());) {
      const size_t most = std::clamp<size_t>(done, 1, DecoderEmulation::kRows);
      const size_t rows = std::min(most, tokens.size() - done);
      const DecoderStep step{static_cast<int64_t>(rows), static_cast<int64_t>(done)};
      CLVET_RETURN_IF_ERROR(emulation_.begin(TextKind::kLow, tokens.subspan(done, rows)));
      CLVET_ASSIGN_OR_RETURN(const bool finite, run(raised, step));
      if (hasty && !finite) {
        judge.lose();
        break;
      }
      CLVET_RETURN_IF_ERROR(answer(raised, input, step));
      judge_logits(emulation_, step, judge);
      done += rows;
    }
    return judge;
  }

  // All calls but the head. False: what the head reads is not finite, so that no logit will be.
  Result<bool> run(const Raised& raised, DecoderStep step) {
    const std::vector<DecoderCall>& calls = emulation_.calls(step.rows);
    for (size_t n = 0; n + 1 < calls.size(); ++n)
      CLVET_RETURN_IF_ERROR(emulation_.run(TextKind::kLow, calls[n], step, raised[n]));
    const auto normed = emulation_.values(TextKind::kLow, "normed", step, true);
    return std::all_of(normed.begin(), normed.end(),
                       [](float value) { return std::isfinite(value); });
  }

  // The reference's are computed again: those of a long text would take more memory than the model.
  Status answer(const Raised& raised, size_t input, DecoderStep step) {
    const DecoderCall& head = emulation_.calls(step.rows).back();
    CLVET_RETURN_IF_ERROR(emulation_.run(TextKind::kLow, head, step, raised.back()));
    const auto normed = emulation_.values(TextKind::kExact, "normed", step, true);
    const auto width = static_cast<size_t>(emulation_.config().width);
    std::copy_n(normed_[input].begin() +
                    static_cast<std::ptrdiff_t>(static_cast<size_t>(step.position) * width),
                normed.size(), normed.begin());
    return emulation_.run(TextKind::kExact, head, step);
  }

  DecoderEmulation& emulation_;
  const std::vector<LanguageInput>& inputs_;
  double target_;
  Wiring wiring_;
  std::vector<std::vector<float>> normed_;  // by input, see WatchedText
  std::vector<double> allowed_;             // by input, see LogitsJudge
};

// Below the format's limit by this at least: other texts have larger values than those tried.
constexpr double kHeadroom = 4;
constexpr int kFactorsTried = 3;

// None where the residual stream does not overflow.
std::optional<int> first_exponent(const PrecisionDiagnosis& found) {
  double largest = 0;
  int64_t overflows = 0;
  for (const DiagnosedInput& input : found.inputs) {
    const ValueRange& range = input.ranges.at(kResidual);
    largest = std::max(largest, range.largest);
    overflows += range.overflows;
  }
  if (overflows == 0) return std::nullopt;
  const double over = kHeadroom * largest / limits_of(found.format).greatest;
  return std::max(1, static_cast<int>(std::ceil(std::log2(over))));
}

// Smaller factors where the first does not do: other values of a step are then smaller as well.
Result<std::optional<ExactRescale>> rescale_of(DecoderEmulation& emulation, LanguageModel& model,
                                               const PrecisionDiagnosis& diagnosis) {
  const auto first = first_exponent(diagnosis);
  if (!first) return std::nullopt;
  ExactRescale rescale{kResidual, std::ldexp(1, -*first), emulation.config().post_norms};
  const Raised nothing(diagnosis.nodes.size(), false);
  for (int i = 0; rescale.available && !rescale.right && i < kFactorsTried; ++i) {
    const double factor = std::ldexp(1, -*first - i);
    emulation.scale_residual(factor);
    bool right = true;
    for (size_t input = 0; right && input < model.inputs(); ++input) {
      CLVET_ASSIGN_OR_RETURN(const auto found, model.with(nothing, input, Detail::kWhetherRight));
      right = found.right;
    }
    if (right) rescale.factor = factor;
    rescale.right = right;
  }
  emulation.scale_residual(1);
  return rescale;
}

Result<int64_t> longest_of(const LlmConfig& config, const std::vector<LanguageInput>& inputs) {
  size_t longest = 0;
  for (const LanguageInput& input : inputs) {
    if (const std::string misfit = misfit_of(config, input.tokens); !misfit.empty())
      return fail(ErrorCode::kInvalidArgument, "{}: {}", input.name, misfit);
    longest = std::max(longest, input.tokens.size());
  }
  return static_cast<int64_t>(longest);
}

}  // namespace

std::string misfit_of(const LlmConfig& config, const std::vector<int32_t>& tokens) {
  if (tokens.empty()) return "the prompt is empty";
  if (static_cast<int64_t>(tokens.size()) <= config.context) return {};
  return fmt::format("{} tokens exceed the model's context of {} tokens", tokens.size(),
                     config.context);
}

Result<PrecisionDiagnosis> diagnose_language(const LlmConfig& config, const LlmWeights& weights,
                                             const std::vector<LanguageInput>& inputs,
                                             const DiagnoseOptions& options) {
  if (inputs.empty())
    return fail(ErrorCode::kInvalidArgument, "there is no prompt to diagnose with");
  CLVET_ASSIGN_OR_RETURN(const int64_t longest, longest_of(config, inputs));
  CLVET_ASSIGN_OR_RETURN(
      const auto emulation,
      DecoderEmulation::create(config, weights, {options.format, options.policy == Policy::kEngine},
                               longest));
  LanguageModel model(*emulation, inputs, options.target);
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found, diagnose_model(model, options));
  if (found.plan) {
    CLVET_ASSIGN_OR_RETURN(found.plan->rescale, rescale_of(*emulation, model, found));
  }
  return found;
}

}  // namespace clvet
