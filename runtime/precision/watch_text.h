// A language model's text computed three ways at once, call by call (watch.h): in float32, each
// call alone at low precision on the right inputs, and all of it at low precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/logits.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"

namespace clvet {

struct WatchedText {
  // Nodes are calls, those of all steps together; of errors the step with the largest is kept. The
  // only value that is given are the embeddings.
  Seen seen;
  ValueRange residual;        // embeddings and all sums of the residual stream, in float32
  std::vector<float> normed;  // what the head reads in float32, a row for each position
  LogitsJudge logits;
};

// kInvalidArgument: the model itself is at fault, a call gives values that are not finite in
// float32 already; or a token is unknown.
Result<WatchedText> watch_text(DecoderEmulation& emulation, std::span<const int32_t> tokens);

// Adds the positions of a step, whose logits both texts have.
void judge_logits(DecoderEmulation& emulation, DecoderStep step, LogitsJudge& judge);

}  // namespace clvet
