// Calls of a language model that one kernel computes at once (ops gemv_fused, attention_rope and
// attention_qkv).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/llm/decoder_calls.h"

namespace clvet {

// Whether a call that stands for several is taken; `place` is its index among the calls.
using TakesFused = std::function<bool(const DecoderCall& fused, size_t place)>;

// The calls of a step with those of one token fused where `takes` says so, the largest first:
//   rms_norm, gemv, rope, attention   one attention_qkv
//   rms_norm, gemv, glu               one gemv_fused
//   rms_norm, gemv                    one gemv_fused
//   gemv, addition                    one gemv_fused
//   rope, attention                   one attention_rope
// A fused call has the name of its product, or of its attention. What only its parts hand on to
// each other is not written; where a later call reads that, they stay apart.
std::vector<DecoderCall> fuse(std::vector<DecoderCall> calls, const TakesFused& takes);

}  // namespace clvet
