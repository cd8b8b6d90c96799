// A language model's calls as a plan: the phases "token" and "prompt".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

// A call and the kernel that runs it, or why none does.
struct DecoderChoice {
  DecoderCall call;
  bool answer = false;  // a step of one token that gives logits, else one of a prompt
  Result<ChosenVariant> chosen;
};

// What a combination makes of a model: the kernel of every call of an answer and of a prompt, and
// the plan of them, if there is one.
struct PlannedDecoder {
  std::vector<DecoderChoice> choices;
  // kUnavailable: a call has no kernel; kResourceExhausted: the device's memory is too small; the
  // message says which.
  Result<ExecutionPlan> plan;
};

class DecoderPlanner {
 public:
  // All must outlive it.
  DecoderPlanner(const LlmConfig& config, const LlmWeights& weights, const VariantChooser& chooser)
      : config_(config), weights_(weights), chooser_(chooser) {}

  // Words that are given are kept; the others as best_plan() has it.
  Result<ExecutionPlan> plan(const PlanOverrides& words) const;
  // That `plan` is one of this model; as check_network_plan().
  Status check(const ExecutionPlan& plan) const;

  // For one combination: memory low keeps quantised matrices quantised, normal expands them; every
  // tensor between calls is stored alike. What the file has as Q4_0 stays so where each call has a
  // kernel for it and the text is predicted to take about as long or less, or where the device has
  // no room for anything else.
  PlannedDecoder planned(const Combination& combination) const;
  // kUnavailable: one of the choices failed.
  Result<DecoderMemory> memory(const Combination& combination,
                               std::span<const DecoderChoice> choices) const;

 private:
  // What Q4_0 of a file becomes.
  enum class Blocks { kWithOffsets, kOfFile };

  // Whether a fused call is right on this device, and its parts are not predicted to save a fifth.
  bool takes_fused(const Combination& combination, Blocks blocks, const DecoderCall& fused) const;
  WeightType type_of(const Combination& combination, Blocks blocks,
                     const std::string& matrix) const;
  // Of all its matrices, kFloat where it has none; nullopt: they differ.
  std::optional<WeightType> type_of(const Combination& combination, Blocks blocks,
                                    const DecoderCall& call) const;
  Result<ChosenVariant> choose(const Combination& combination, Blocks blocks,
                               const DecoderCall& call) const;
  std::vector<DecoderChoice> choose_all(const Combination& combination, Blocks blocks) const;
  Result<ExecutionPlan> plan_for(const Combination& combination,
                                 std::span<const DecoderChoice> choices) const;
  // The kernel by which the device may choose a token, beside what else it `needs`; empty: none.
  std::string next_token_of(const Combination& combination, const DecoderMemory& needs) const;
  std::vector<DecoderCall> calls(const Combination& combination, bool answer) const;
  std::vector<DecoderChoice> choices_of(const ExecutionPlan& plan) const;
  // Of the weights that a token reads, whether or not any kernel is right.
  double bytes_of(const Combination& combination, Blocks blocks) const;

  const LlmConfig& config_;
  const LlmWeights& weights_;
  const VariantChooser& chooser_;
};

// All that language models can be asked for, in the order of preference.
std::vector<Combination> decoder_combinations(const PlanOverrides& words);

// Of the refused combinations those that would read fewer or as many bytes as the plan's and are
// not right on this device, the fewest first.
std::vector<RefusedCombination> avoided_by(const ExecutionPlan& plan);

// The calls of a step (decoder_calls()) as a phase of a plan has them, fused where it says so.
std::vector<DecoderCall> calls_in(const PlanPhase& phase, std::vector<DecoderCall> calls);

// The rows that each part of the head has (decoder_calls()); 0: it lies in one piece.
int64_t head_rows_of(const ExecutionPlan& plan);

// Phases of a language model's plan.
inline constexpr const char* kTokenPhase = "token";
inline constexpr const char* kPromptPhase = "prompt";

}  // namespace clvet
