// Which kernels run a language model's calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/trial/cases.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

// A device's kernels, for weights of each type. Copies share them.
class DecoderKernels {
 public:
  DecoderKernels(const Catalog& catalog, const DeviceEvidence& evidence,
                 const DeviceFeatures& features);
  const VariantChooser& of(WeightType type) const { return *choosers_.at(type); }
  const DeviceFeatures& features() const { return features_; }

 private:
  DeviceFeatures features_;
  std::map<WeightType, std::shared_ptr<const VariantChooser>> choosers_;
};

// A call and the kernel that runs it, or why none does.
struct DecoderChoice {
  DecoderCall call;
  bool answer = false;  // a step of one token that gives logits, else one of a prompt
  Result<ChosenVariant> chosen;
};

// Chooses for one combination; every tensor between calls is stored alike.
class DecoderPlanner {
 public:
  // `memory` kLow keeps quantised matrices quantised, kNormal expands them.
  DecoderPlanner(DecoderKernels kernels, const Combination& combination, const LlmWeights& weights)
      : combination_(combination), weights_(&weights), kernels_(std::move(kernels)) {}

  // kUnavailable: no trusted kernel takes the call as it should be stored; the message says which
  // was wanted and what is known of it.
  Result<ChosenVariant> choose(const DecoderCall& call) const;
  // Every call of an answer and of a prompt.
  std::vector<DecoderChoice> choose_all(const LlmConfig& config) const;
  // kUnavailable: one of the choices failed.
  Result<DecoderMemory> memory(const LlmConfig& config,
                               std::span<const DecoderChoice> choices) const;
  WeightType type_of(const std::string& matrix) const;
  const Combination& combination() const { return combination_; }
  // The most rows that the head may have in one piece (decoder_calls()): an image's texel holds
  // four of them side by side. 0: any number.
  int64_t head_rows() const;
  const DeviceFeatures& features() const { return kernels_.features(); }

 private:
  Combination combination_;
  const LlmWeights* weights_;
  DecoderKernels kernels_;
};

struct DecoderPlan {
  Combination combination;
  // Of one token, by what the trials measured; compares plans with each other, no more.
  double estimated_ms = 0;
  double bytes = 0;  // of weights that a token reads
  DecoderMemory memory;
  // What would read fewer or as many bytes and is not right here, the fewest first.
  struct Avoided {
    Combination combination;
    std::string reason;
    double bytes = 0;
  };
  std::vector<Avoided> avoided;
};

// What a caller insists on; empty: the planner chooses.
struct DecoderWords {
  std::optional<Precision> precision;
  std::optional<Memory> memory;
  std::optional<Storage> weights;
};

// All that language models can be asked for, in the order of preference.
std::vector<Combination> decoder_combinations(const DecoderWords& words);

// The planner's combination, by what it chose for the model. kUnavailable: a call has no kernel;
// kResourceExhausted: the device's memory is too small; the message says which.
Result<DecoderPlan> plan_combination(const DecoderPlanner& planner, const LlmConfig& config,
                                     std::span<const DecoderChoice> choices);

// Words that are given are kept; of the others the fastest right ones are taken, and of precisions
// the highest, unless a lower one saves a third. kUnavailable: none is right; the message says why.
Result<DecoderPlan> plan_decoder(const DecoderKernels& kernels, const LlmConfig& config,
                                 const LlmWeights& weights, const DecoderWords& words);

}  // namespace clvet
