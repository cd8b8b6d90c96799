// The device's own choice of the next token (op next_token), by which it goes on before the host
// has seen the logits.
#pragma once

#include <cstdint>

#include "kernels/contract.h"
#include "runtime/llm/llm_config.h"

namespace clvet {

inline constexpr const char* kNextToken = "next_token";  // the op
Dims next_token_dims(const LlmConfig& config);
// Of a device's memory, beside what the model needs: the embeddings of all tokens as floats, and
// what it says.
int64_t next_token_bytes(const LlmConfig& config);

}  // namespace clvet
