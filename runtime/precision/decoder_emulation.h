// A language model on the host as a device of lower precision would have it: each call stores what
// it writes in the format, the arithmetic within a call stays float32. Weights are as they are.
//
// A raised call reads what is stored and writes float32; a call of low precision rounds what it
// reads. How a value is stored is a property of what one call writes, not of the buffer's name: the
// residual stream may be float32 in some layers and half in others. A plan for a device would give
// a raised value a tensor of its own and convert it where a call of low precision reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

// Two texts are computed side by side, with one copy of the weights.
enum class TextKind { kExact, kLow };

struct DecoderStep {
  int64_t rows = 0, position = 0;
};

class DecoderEmulation {
 public:
  static constexpr int64_t kRows = 16;  // of a step at most

  // Both must outlive it; texts have up to `capacity` positions. Without rules.float_vectors, the
  // model's vectors are rounded and norms hold their sums of squares in the format, as engines do
  // that add up in half.
  static Result<std::unique_ptr<DecoderEmulation>> create(const LlmConfig& config,
                                                          const LlmWeights& weights,
                                                          EmulationRules rules, int64_t capacity);
  const EmulationRules& rules() const { return rules_; }
  const LlmConfig& config() const { return config_; }

  // Of steps with as many rows; the last one computes the logits behind each of them.
  const std::vector<DecoderCall>& calls(int64_t rows = kRows);
  // Roles of what it reads, in the order that Rounded counts by.
  static std::vector<std::string> roles_read(const DecoderCall& call);
  bool is_buffer(const std::string& name) const { return columns_.contains(name); }

  // Puts the embeddings into "hidden".
  Status begin(TextKind kind, std::span<const int32_t> tokens);
  // As float32 where kExact; nothing is rounded of a raised call.
  Status run(TextKind kind, const DecoderCall& call, DecoderStep step, bool raised = false);
  // A call that ran as kExact, on the same inputs, rounded by `round`: what it writes.
  using Round = void (*)(NumberFormat, std::span<float>);
  Result<std::vector<std::vector<float>>> alone(const DecoderCall& call, DecoderStep step,
                                                const Rounded& rounded, Round round = round_to);

  // What a call has read or written in that step.
  std::span<float> values(TextKind kind, const std::string& buffer, DecoderStep step, bool written);
  // A vector of the model that a low call has read rounded, as it is in float32; else empty.
  std::span<const float> vector(const std::string& name) const;
  // Buffers that a call writes, in the order of alone().
  std::vector<std::span<const float>> written(TextKind kind, const DecoderCall& call,
                                              DecoderStep step);

  // Low texts have a residual stream (stored embeddings, "hidden", "between") of `factor` times the
  // size from now on: the norms' scales before each addition and the epsilons behind change with
  // it. Of a power of two that is exact in float32. The model must have such norms.
  void scale_residual(double factor) { residual_ = factor; }

 private:
  struct Text {
    HostBuffers buffers;
    std::set<std::string> wide;  // buffers that hold float32
  };
  // Values that are put back.
  using Kept = std::vector<std::pair<std::span<float>, std::vector<float>>>;

  DecoderEmulation(const LlmConfig& config, const LlmWeights& weights, EmulationRules rules)
      : config_(config), weights_(weights), rules_(rules) {}
  Text& text(TextKind kind) { return texts_[static_cast<size_t>(kind)]; }
  Status execute(Text& text, const DecoderCall& call, DecoderStep step, const Rounded& rounded);
  Status exchange_vectors(const DecoderCall& call, const Rounded& rounded);
  void rescale(const DecoderCall& call, DecoderStep step);

  const LlmConfig& config_;
  const LlmWeights& weights_;
  EmulationRules rules_;
  std::unique_ptr<HostDecoder> decoder_;
  int64_t capacity_ = 0;
  double residual_ = 1;
  std::map<std::string, std::pair<int64_t, bool>> columns_;  // of buffers; whether it is a cache
  std::map<int64_t, std::vector<DecoderCall>> calls_;        // by rows
  std::map<std::string, std::vector<float>> stored_;         // vectors that are rounded
  std::map<std::string, std::vector<float>> exact_;          // the same in float32
  std::array<Text, 2> texts_;
};

}  // namespace clvet
