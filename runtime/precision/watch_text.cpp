#include "runtime/precision/watch_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/call_suspect.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/logits.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"

namespace clvet {
namespace {

class TextWatch {
 public:
  explicit TextWatch(DecoderEmulation& emulation) : emulation_(emulation) {
    watched_.seen.nodes.resize(emulation.calls().size());
    watched_.seen.inputs.resize(1);
    for (WatchedNode& node : watched_.seen.nodes) node.floats = node.constant = true;
  }

  Status step(std::span<const int32_t> tokens, DecoderStep step) {
    CLVET_RETURN_IF_ERROR(emulation_.begin(TextKind::kExact, tokens));
    CLVET_RETURN_IF_ERROR(emulation_.begin(TextKind::kLow, tokens));
    const auto embeddings = emulation_.values(TextKind::kExact, "hidden", step, true);
    watched_.seen.inputs[0].add(embeddings, format());
    watched_.residual.add(embeddings, format());
    const std::vector<DecoderCall>& calls = emulation_.calls(step.rows);
    for (size_t n = 0; n < calls.size(); ++n)
      CLVET_RETURN_IF_ERROR(look(calls[n], step, watched_.seen.nodes[n]));
    const auto normed = emulation_.values(TextKind::kExact, "normed", step, true);
    watched_.normed.insert(watched_.normed.end(), normed.begin(), normed.end());
    judge_logits(emulation_, step, watched_.logits);
    return {};
  }
  WatchedText take() { return std::move(watched_); }

 private:
  NumberFormat format() const { return emulation_.rules().format; }

  Status look(const DecoderCall& call, DecoderStep step, WatchedNode& node) {
    const double started = monotonic_seconds();
    CLVET_RETURN_IF_ERROR(emulation_.run(TextKind::kExact, call, step));
    node.ms += ms_since(started);
    CLVET_RETURN_IF_ERROR(emulation_.run(TextKind::kLow, call, step));
    const auto exact = emulation_.written(TextKind::kExact, call, step);
    const auto low = emulation_.written(TextKind::kLow, call, step);
    ValueRange range;
    Deviation cumulative;
    for (size_t i = 0; i < exact.size(); ++i) {
      range.add(exact[i], format());
      cumulative.add(low[i], exact[i]);
      node.integers |= has_large_integers(exact[i], format());
      node.constant &= all_alike(low[i]) && !all_alike(exact[i]);
    }
    if (range.finite() < range.count) return not_finite(call);
    node.range.add(range);
    if (is_residual(call.tensors.find("y")->second)) watched_.residual.add(range);
    keep_worst(cumulative, node.cumulative);
    return look_alone(call, step, node);
  }

  Status look_alone(const DecoderCall& call, DecoderStep step, WatchedNode& node) {
    const CallSuspect suspect(emulation_, call, step);
    CLVET_ASSIGN_OR_RETURN(const Deviation alone, suspect.deviation(Rounded()));
    keep_worst(alone, node.isolated);
    if (node.blame || !(alone.part() > isolated_bound(format()))) return {};
    CLVET_ASSIGN_OR_RETURN(node.blame, blame_of(suspect));
    return {};
  }

  static Status not_finite(const DecoderCall& call) {
    return fail(ErrorCode::kInvalidArgument,
                "call '{}' gives NaN or infinite values in float32 already: the model itself is "
                "at fault, not low precision",
                call.name);
  }

  DecoderEmulation& emulation_;
  WatchedText watched_;
};

}  // namespace

void judge_logits(DecoderEmulation& emulation, DecoderStep step, LogitsJudge& judge) {
  const auto exact = emulation.values(TextKind::kExact, "logits", step, true);
  const auto low = emulation.values(TextKind::kLow, "logits", step, true);
  const auto words = static_cast<size_t>(emulation.config().vocab);
  for (size_t at = 0; at < exact.size(); at += words)
    judge.add(low.subspan(at, words), exact.subspan(at, words));
}

Result<WatchedText> watch_text(DecoderEmulation& emulation, std::span<const int32_t> tokens) {
  TextWatch watch(emulation);
  for (size_t done = 0; done < tokens.size();) {
    const size_t rows =
        std::min(tokens.size() - done, static_cast<size_t>(DecoderEmulation::kRows));
    CLVET_RETURN_IF_ERROR(watch.step(tokens.subspan(done, rows),
                                     {static_cast<int64_t>(rows), static_cast<int64_t>(done)}));
    done += rows;
  }
  return watch.take();
}

}  // namespace clvet
