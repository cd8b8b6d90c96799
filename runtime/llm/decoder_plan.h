// Which kernels run a language model's calls.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

// Chooses for one combination; every tensor between calls is stored alike.
class DecoderPlanner {
 public:
  // `memory` kLow keeps quantised matrices quantised, kNormal expands them.
  DecoderPlanner(const Catalog& catalog, const DeviceEvidence& evidence,
                 const DeviceFeatures& features, const Combination& combination,
                 const LlmWeights& weights);

  // kUnavailable: no trusted kernel takes the call as it should be stored; the message says which
  // was wanted and what is known of it.
  Result<ChosenVariant> choose(const DecoderCall& call) const;
  WeightType type_of(const std::string& matrix) const;
  const Combination& combination() const { return combination_; }
  // The most rows that the head may have in one piece (decoder_calls()): an image's texel holds
  // four of them side by side. 0: any number.
  int64_t head_rows() const;

 private:
  Combination combination_;
  int64_t image_width_ = 0;
  const LlmWeights* weights_;
  std::map<WeightType, std::shared_ptr<const VariantChooser>> choosers_;
};

struct DecoderPlan {
  Combination combination;
  // Of one token, by what the trials measured; compares plans with each other, no more.
  double estimated_ms = 0;
  double bytes = 0;  // of weights that a token reads
  // What would read fewer or as many bytes and is not right here, the fewest first.
  struct Avoided {
    Combination combination;
    std::string reason;
    double bytes = 0;
  };
  std::vector<Avoided> avoided;
};

// Words that are given are kept; of the others the fastest right ones are taken, and of precisions
// the highest, unless a lower one saves a third. kUnavailable: none is right; the message says why.
struct DecoderWords {
  std::optional<Precision> precision;
  std::optional<Memory> memory;
  std::optional<Storage> weights;
};
Result<DecoderPlan> plan_decoder(const Catalog& catalog, const DeviceEvidence& evidence,
                                 const DeviceFeatures& features, const LlmConfig& config,
                                 const LlmWeights& weights, const DecoderWords& words);

}  // namespace clvet
