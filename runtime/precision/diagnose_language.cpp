#include "runtime/precision/diagnose_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/language_model.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

// Below the format's limit by this at least: other texts have larger values than those tried.
constexpr double kHeadroom = 4;
constexpr int kFactorsTried = 3;

// None where the residual stream does not overflow.
std::optional<int> first_exponent(const PrecisionDiagnosis& found) {
  double largest = 0;
  int64_t overflows = 0;
  for (const DiagnosedInput& input : found.inputs) {
    const ValueRange& range = input.ranges.at(LanguageModel::kResidual);
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
  ExactRescale rescale{LanguageModel::kResidual, std::ldexp(1, -*first),
                       emulation.config().post_norms};
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

Result<std::unique_ptr<DecoderEmulation>> emulation_for(const LlmConfig& config,
                                                        const LlmWeights& weights,
                                                        const std::vector<LanguageInput>& inputs,
                                                        const DiagnoseOptions& options) {
  if (inputs.empty())
    return fail(ErrorCode::kInvalidArgument, "there is no prompt to diagnose with");
  CLVET_ASSIGN_OR_RETURN(const int64_t longest, longest_of(config, inputs));
  return DecoderEmulation::create(config, weights,
                                  {options.format, options.policy == Policy::kEngine}, longest);
}

Result<PrecisionDiagnosis> diagnose_emulated(DecoderEmulation& emulation, LanguageModel& model,
                                             const DiagnoseOptions& options) {
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found, diagnose_model(model, options));
  if (found.plan) {
    CLVET_ASSIGN_OR_RETURN(found.plan->rescale, rescale_of(emulation, model, found));
  }
  return found;
}

Result<PrecisionDiagnosis> diagnose_language(const LlmConfig& config, const LlmWeights& weights,
                                             const std::vector<LanguageInput>& inputs,
                                             const DiagnoseOptions& options) {
  CLVET_ASSIGN_OR_RETURN(const auto emulation, emulation_for(config, weights, inputs, options));
  LanguageModel model(*emulation, inputs, options.target);
  return diagnose_emulated(*emulation, model, options);
}

}  // namespace clvet
