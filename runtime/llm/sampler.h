// Which token comes next.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {

struct SamplerOptions {
  double temperature = 0;  // 0: greedy, and nothing else matters
  int64_t top_k = 0;       // keep so many of the greatest logits; 0: all
  double top_p = 1;        // keep the most probable ones until their sum reaches this; 1: all
  uint64_t seed = 0;
};

// A pure function of options, logits and step:
//  - greedy: the greatest logit; of equal ones the lowest id.
//  - otherwise candidates are ordered by logit, then by id. The first top_k stay. Each weighs
//    exp((logit - greatest) / temperature), rounded down to a multiple of 2^-40, and goes if that
//    is 0. Of the sum of weights, the shortest run from the front that reaches top_p stays. The
//    draw of `step` (random_bits of seed and step) picks one in proportion to its weight.
// Weights are integers, so the choice is the same on every machine but where its exp differs
// across a multiple of 2^-40.
class Sampler {
 public:
  // kInvalidArgument: a temperature below 0 or not finite, a top_k below 0, a top_p not in (0, 1].
  static Result<Sampler> create(const SamplerOptions& options);

  // kDeviceError where the logits cannot be a model's: one is NaN or +inf, none is finite, or all
  // are equal. -inf never is chosen. kInvalidArgument: there are none.
  Result<TokenId> pick(std::span<const float> logits, uint64_t step) const;

 private:
  explicit Sampler(const SamplerOptions& options) : options_(options) {}
  SamplerOptions options_;
};

}  // namespace clvet
