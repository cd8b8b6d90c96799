// Feeds a decoder with tokens, and keeps count of positions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "runtime/llm/decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"

namespace clvet {

class TokenFeed {
 public:
  // All must outlive it; at most `rows` tokens a step.
  TokenFeed(DecoderBackend& backend, const LlmConfig& config, const LlmWeights& weights,
            int64_t rows)
      : backend_(backend), config_(config), weights_(weights), rows_(rows) {}

  // Takes the tokens, at least one, and gives the logits behind the last, which stay as those of
  // DecoderBackend::step(). kResourceExhausted: the model's context is full. `progress` sees how
  // many are taken. kCancelled: see set_cancel().
  Result<std::span<const float>> take(std::span<const int32_t> tokens,
                                      const std::function<void(size_t)>& progress = nullptr);
  // While it is true, taking tokens ends before the next step.
  void set_cancel(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }
  int64_t position() const { return position_; }
  // Forgets all text.
  void restart() { position_ = 0; }

 private:
  DecoderBackend& backend_;
  const LlmConfig& config_;
  const LlmWeights& weights_;
  int64_t rows_;
  int64_t position_ = 0;
  const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace clvet
