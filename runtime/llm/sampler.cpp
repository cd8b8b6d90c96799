#include "runtime/llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "runtime/graph/value_range.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

constexpr double kWeightUnit = 1099511627776.0;  // 2^40

// The index of the greatest logit, once they are known to be sound.
Result<size_t> check_logits(std::span<const float> logits) {
  if (logits.empty())
    return fail(ErrorCode::kInvalidArgument, "there are no logits to choose a token from");
  const auto [least, greatest, has_nan, place] = range_of(logits);
  if (has_nan || greatest == INFINITY) {
    const auto odd = std::ranges::find_if(
        logits, [](float value) { return std::isnan(value) || value == INFINITY; });
    return fail(ErrorCode::kDeviceError,
                "the model's output is not finite (token {} of {}): an intermediate result was "
                "too large; use --precision high",
                odd - logits.begin(), logits.size());
  }
  if (greatest == least && (logits.size() > 1 || std::isinf(least))) {
    return fail(
        ErrorCode::kDeviceError,
        "the model's output is the same for all {} tokens: an intermediate result was lost; "
        "use --precision high",
        logits.size());
  }
  return place;
}

struct WeightedToken {
  TokenId id = 0;
  float logit = 0;
  uint64_t weight = 0;

  bool operator<(const WeightedToken& other) const {
    return logit > other.logit || (logit == other.logit && id < other.id);
  }
};

// In order, with weights above 0.
std::vector<WeightedToken> candidates_of(std::span<const float> logits, float greatest,
                                         const SamplerOptions& options) {
  std::vector<WeightedToken> tokens;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double x =
        (static_cast<double>(logits[i]) - static_cast<double>(greatest)) / options.temperature;
    const auto weight = static_cast<uint64_t>(std::exp(x) * kWeightUnit);
    if (weight > 0) tokens.push_back({static_cast<TokenId>(i), logits[i], weight});
  }
  const auto kept = static_cast<size_t>(options.top_k);
  if (options.top_k > 0 && kept < tokens.size()) {
    std::nth_element(tokens.begin(), tokens.begin() + options.top_k, tokens.end());
    tokens.resize(kept);
  }
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

// The upper 64 of the 128 bits of a * b.
uint64_t high_product(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xFFFFFFFF)) >> 32);
}

uint64_t sum_of(std::span<const WeightedToken> tokens) {
  uint64_t sum = 0;  // at most 2^24 tokens of at most 2^40
  for (const WeightedToken& token : tokens) sum += token.weight;
  return sum;
}

}  // namespace

Result<Sampler> Sampler::create(const SamplerOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature < 0) {
    return fail(ErrorCode::kInvalidArgument, "the temperature must be 0 or more, not {}",
                options.temperature);
  }
  if (options.top_k < 0) {
    return fail(ErrorCode::kInvalidArgument, "top-k must be 0 (all) or more, not {}",
                options.top_k);
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    return fail(ErrorCode::kInvalidArgument, "top-p must be above 0 and at most 1, not {}",
                options.top_p);
  }
  return Sampler(options);
}

Result<TokenId> Sampler::pick(std::span<const float> logits, uint64_t step) const {
  CLVET_ASSIGN_OR_RETURN(const size_t best, check_logits(logits));
  if (options_.temperature == 0) return static_cast<TokenId>(best);
  std::vector<WeightedToken> tokens = candidates_of(logits, logits[best], options_);
  const double enough = options_.top_p * static_cast<double>(sum_of(tokens));
  uint64_t sum = 0;
  size_t kept = 0;
  while (kept < tokens.size() && (kept == 0 || static_cast<double>(sum) < enough)) {
    sum += tokens[kept++].weight;
  }
  const uint64_t draw = high_product(random_bits(options_.seed, step), sum);
  uint64_t passed = 0;
  for (size_t i = 0; i < kept; ++i) {
    passed += tokens[i].weight;
    if (draw < passed) return tokens[i].id;
  }
  return fail(ErrorCode::kInternal, "no token was drawn");
}

}  // namespace clvet
