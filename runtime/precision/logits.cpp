#include "runtime/precision/logits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "runtime/graph/output_sign.h"
#include "runtime/llm/teacher_forced.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

struct Best {
  size_t token = 0;
  double margin = 0;  // over the second
};

// NaN is never the best.
Best best_of(std::span<const float> logits) {
  float first = -INFINITY, second = -INFINITY;
  Best best;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > first) {
      second = first;
      first = logits[i];
      best.token = i;
    } else if (logits[i] > second) {
      second = logits[i];
    }
  }
  best.margin = static_cast<double>(first) - second;
  return best;
}

// What is not finite anywhere makes a text worthless; other signs must show at all positions.
OutputSign both(OutputSign before, OutputSign now) {
  const bool lost = before == OutputSign::kNotFinite || now == OutputSign::kNotFinite;
  if (lost) return OutputSign::kNotFinite;
  return before == now ? now : OutputSign::kNone;
}

}  // namespace

void LogitsJudge::add(std::span<const float> logits, std::span<const float> reference) {
  deviation_.add(logits, reference);
  for (const float value : reference) reference_squares_ += static_cast<double>(value) * value;
  const OutputSign now = sign_of(logits);
  const OutputSign sign = now == sign_of(reference) ? OutputSign::kNone : now;
  sign_ = any_ ? both(sign_, sign) : sign;
  any_ = true;
  const Best wanted = best_of(reference);
  if (!(wanted.margin > kMargin)) return;
  const bool finite =
      std::all_of(logits.begin(), logits.end(), [](float value) { return std::isfinite(value); });
  ++choices_.of;
  choices_.right += finite && best_of(logits).token == wanted.token;
}

DiagnosedOutput LogitsJudge::output() const {
  DiagnosedOutput row;
  row.name = "logits";
  row.deviation = deviation_;
  row.choices = choices_;
  row.sign = sign_;
  return row;
}

}  // namespace clvet
