// Finds the calls of a language model (decoder_calls.h) that low precision breaks, and the fewest
// to raise. decoder_emulation.h says what raising means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

// The logits behind each token count.
struct LanguageInput {
  std::string name;
  std::vector<int32_t> tokens;
};

// Why a model cannot take a text; empty: it can.
std::string misfit_of(const LlmConfig& config, const std::vector<int32_t>& tokens);

// Nodes are the calls of a step, inputs[].ranges["hidden"] is the residual stream in float32.
// Policy::kNaive: also the model's vectors are rounded, and norms hold their sums of squares in the
// format. kInvalidArgument: no text, one that does not fit, or a model that gives values that are
// not finite in float32.
class LanguageModel;

// What diagnose_language() works with: texts as long as the longest input.
Result<std::unique_ptr<DecoderEmulation>> emulation_for(const LlmConfig& config,
                                                        const LlmWeights& weights,
                                                        const std::vector<LanguageInput>& inputs,
                                                        const DiagnoseOptions& options);
// diagnose_model(), and the scale of the residual stream.
Result<PrecisionDiagnosis> diagnose_emulated(DecoderEmulation& emulation, LanguageModel& model,
                                             const DiagnoseOptions& options);

Result<PrecisionDiagnosis> diagnose_language(const LlmConfig& config, const LlmWeights& weights,
                                             const std::vector<LanguageInput>& inputs,
                                             const DiagnoseOptions& options);

}  // namespace clvet
