// Calls of a language model that one kernel computes at once (ops gemv_fused, attention_rope,
// attention_qkv and decoder_layers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/llm/decoder_calls.h"

namespace clvet {

// Whether a call that stands for several is taken; `place` is its index among the calls.
using TakesFused = std::function<bool(const DecoderCall& fused, size_t place)>;

// The calls of a step with those of one token fused where `takes` says so, the largest first:
//   all calls of all layers, which differ in no dim or scalar, without norms of heads or behind a
//   product                           one decoder_layers
//   rms_norm, gemv, rope, attention   one attention_qkv
//   rms_norm, gemv, glu               one gemv_fused
//   rms_norm, gemv                    one gemv_fused
//   gemv, addition                    one gemv_fused
//   rope, attention                   one attention_rope
// A fused call has the name of its product, or of its attention; that of all layers is "layers".
// What only its parts hand on to each other is not written, but for the roles that it writes; where
// a later call reads that, they stay apart.
std::vector<DecoderCall> fuse(std::vector<DecoderCall> calls, const TakesFused& takes);

// Of a call of all layers the parts of one, in order.
std::span<const DecoderCall> parts_of_layer(const DecoderCall& layers, int64_t layer);

}  // namespace clvet
