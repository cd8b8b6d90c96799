#include "runtime/llm/next_token.h"

#include <cstdint>

#include "kernels/contract.h"
#include "runtime/llm/llm_config.h"

namespace clvet {

Dims next_token_dims(const LlmConfig& config) { return {{"N", config.vocab}, {"C", config.width}}; }

int64_t next_token_bytes(const LlmConfig& config) {
  constexpr int64_t kBytes = sizeof(float), kSaid = 2;
  return kBytes * (config.vocab * config.width + kSaid * (config.vocab + config.width));
}

}  // namespace clvet
