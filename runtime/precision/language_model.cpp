#include "runtime/precision/language_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/precision/answer.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/diagnose_language.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/logits.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/watch_text.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

Wiring wiring_of(DecoderEmulation& emulation) {
  Wiring wiring;
  std::map<std::string, int> writer;
  for (const DecoderCall& call : emulation.calls()) {
    std::vector<Wire>& wires = wiring.emplace_back();
    for (const std::string& role : DecoderEmulation::roles_read(call)) {
      Wire& wire = wires.emplace_back();
      wire.value = call.tensors.find(role)->second;
      wire.constant = !emulation.is_buffer(wire.value);
      const auto from = writer.find(wire.value);
      if (from != writer.end()) wire.from = from->second;
      if (from == writer.end() && wire.value == LanguageModel::kResidual) wire.given = 0;
    }
    for (const auto& [role, name] : call.tensors)
      if (call.writes(role)) writer[name] = static_cast<int>(wiring.size()) - 1;
  }
  return wiring;
}

}  // namespace

LanguageModel::LanguageModel(DecoderEmulation& emulation, const std::vector<LanguageInput>& inputs,
                             double target)
    : emulation_(emulation), inputs_(inputs), target_(target), wiring_(wiring_of(emulation)) {}

std::vector<DiagnosedNode> LanguageModel::nodes() const {
  std::vector<DiagnosedNode> nodes;
  for (const DecoderCall& call : emulation_.calls()) nodes.push_back({call.name, call.op});
  return nodes;
}

// The fewest calls: which are the dearest differs from device to device.
double LanguageModel::cost(const Raised& raised, std::span<const DiagnosedNode>) {
  return static_cast<double>(std::count(raised.begin(), raised.end(), true));
}

Result<DiagnosedModel::Look> LanguageModel::look(size_t input) {
  auto watched = watch_text(emulation_, inputs_[input].tokens);
  if (!watched) return wrap(watched.error(), inputs_[input].name);
  normed_.push_back(std::move(watched->normed));
  allowed_.push_back(target_ * target_ * watched->logits.reference_squares());
  Look look{judged(input, watched->logits), std::move(watched->seen)};
  look.input.ranges[kResidual] = watched->residual;
  return look;
}

Result<DiagnosedInput> LanguageModel::with(const Raised& raised, size_t input, Detail detail) {
  CLVET_ASSIGN_OR_RETURN(const LogitsJudge judge,
                         compute(raised, input, detail == Detail::kWhetherRight));
  return judged(input, judge);
}

DiagnosedInput LanguageModel::judged(size_t input, const LogitsJudge& judge) const {
  DiagnosedInput row;
  row.name = inputs_[input].name;
  row.outputs.push_back(judge.output());
  row.right = all_right(row.outputs, target_);
  return row;
}

// Where `hasty`, it ends when the answer is wrong. Steps begin with one token and double: what
// overflows shows in the first ones.
Result<LogitsJudge> LanguageModel::compute(const Raised& raised, size_t input, bool hasty) {
  const std::span<const int32_t> tokens = inputs_[input].tokens;
  LogitsJudge judge;
  judge.allow(allowed_[input]);
  for (size_t done = 0; done < tokens.size() && !(hasty && judge.hopeless());) {
    const size_t most = std::clamp<size_t>(done, 1, DecoderEmulation::kRows);
    const size_t rows = std::min(most, tokens.size() - done);
    const DecoderStep step{static_cast<int64_t>(rows), static_cast<int64_t>(done)};
    CLVET_RETURN_IF_ERROR(emulation_.begin(TextKind::kLow, tokens.subspan(done, rows)));
    CLVET_ASSIGN_OR_RETURN(const bool finite, run(raised, step));
    if (hasty && !finite) {
      judge.lose();
      break;
    }
    CLVET_RETURN_IF_ERROR(answer(raised, input, step));
    judge_logits(emulation_, step, judge);
    done += rows;
  }
  return judge;
}

// All calls but the head. False: what the head reads is not finite, so that no logit will be.
Result<bool> LanguageModel::run(const Raised& raised, DecoderStep step) {
  const std::vector<DecoderCall>& calls = emulation_.calls(step.rows);
  for (size_t n = 0; n + 1 < calls.size(); ++n)
    CLVET_RETURN_IF_ERROR(emulation_.run(TextKind::kLow, calls[n], step, raised[n]));
  const auto normed = emulation_.values(TextKind::kLow, "normed", step, true);
  return std::all_of(normed.begin(), normed.end(),
                     [](float value) { return std::isfinite(value); });
}

// The reference's are computed again: those of a long text would take more memory than the model.
Status LanguageModel::answer(const Raised& raised, size_t input, DecoderStep step) {
  const DecoderCall& head = emulation_.calls(step.rows).back();
  CLVET_RETURN_IF_ERROR(emulation_.run(TextKind::kLow, head, step, raised.back()));
  const auto normed = emulation_.values(TextKind::kExact, "normed", step, true);
  const auto width = static_cast<size_t>(emulation_.config().width);
  std::copy_n(normed_[input].begin() +
                  static_cast<std::ptrdiff_t>(static_cast<size_t>(step.position) * width),
              normed.size(), normed.begin());
  return emulation_.run(TextKind::kExact, head, step);
}

}  // namespace clvet
