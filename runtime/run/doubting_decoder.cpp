#include "runtime/run/doubting_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"
#include "runtime/exec/programs.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {
namespace {

Tensor row_of_values(std::span<const float> values) {
  return Tensor::from(Shape{static_cast<int64_t>(values.size())}, values);
}

AnswerDifference between(std::span<const float> logits, std::span<const float> checked) {
  return difference_of(row_of_values(logits), row_of_values(checked));
}

bool differs(const AnswerDifference& difference) {
  return difference.not_finite || difference.part > rounding_part(Precision::kHigh);
}

}  // namespace

void DoubtingDecoder::note() const {
  if (fault_) return;
  std::map<std::string, CheckRhythm> rows;
  for (const auto& [size, one] : rhythms_) {
    if (one.rhythm) rows[one.key] = *one.rhythm;
  }
  (void)history_.keep(rows, environment_);
}

bool DoubtingDecoder::odd() const {
  return !checking_ || std::any_of(rhythms_.begin(), rhythms_.end(), [](const auto& row) {
    return row.second.rhythm && row.second.rhythm->odd;
  });
}

int64_t DoubtingDecoder::every() const {
  const auto found = rhythms_.find({1, true});
  return found != rhythms_.end() && found->second.rhythm ? found->second.rhythm->every : 0;
}

tl::unexpected<Error> DoubtingDecoder::fault_found(Fault fault) {
  fault_ = std::move(fault);
  return fail(ErrorCode::kDeviceError, "{}", fault_->evidence);
}

std::optional<CheckRhythm>& DoubtingDecoder::rhythm_of(const Step& step) {
  const std::pair size{step.rows, step.answer};
  const auto found = rhythms_.find(size);
  if (found != rhythms_.end()) return found->second.rhythm;
  Programs& programs = device_.programs();
  programs.begin_use();
  // An error comes again in the step itself, which says what is at fault.
  (void)decoder_->prepare(step.rows, step.position, step.answer);
  Confirmed& made = rhythms_[size];
  made.key = fmt::format("{} {}{}{}", key_, step.rows, step.answer ? " answer" : "",
                         programs.used_binaries());
  made.rhythm = history_.rhythm(made.key);
  return made.rhythm;
}

Result<std::span<const float>> DoubtingDecoder::unconfirmed(const Step& step) {
  Flight& flight = device_.flight();
  auto logits = in_flight(
      flight, [&] { return decoder_->step(step.hidden, step.rows, step.position, step.answer); });
  if (logits || logits.error().code != ErrorCode::kDeviceError) return logits;
  return fault_found(fault_of(flight.read(), logits.error()));
}

Result<std::span<const float>> DoubtingDecoder::confirmed_by_host(const Step& step) {
  FaultFinder finder;
  Checker checker = finder.checker();
  Flight& flight = device_.flight();
  const double started = monotonic_seconds();
  auto logits = in_flight(flight, [&] {
    return decoder_->check(step.hidden, step.rows, step.position, step.answer, *witness_, checker);
  });
  checking_ms_ = ms_since(started) - 1e3 * checker.steps_s;
  if (finder.fault()) {
    Fault fault = *finder.fault();
    if (logits)
      doubt_maps(
          device_, [&] { return is_right_again(step); }, fault);
    return fault_found(std::move(fault));
  }
  if (logits || logits.error().code != ErrorCode::kDeviceError) return logits;
  return fault_found(fault_of(flight.read(), logits.error()));
}

bool DoubtingDecoder::is_right_again(const Step& step) {
  FaultFinder finder;
  Checker checker = finder.checker();
  const auto checked =
      decoder_->check(step.hidden, step.rows, step.position, step.answer, *witness_, checker);
  if (!checked || finder.fault()) return false;
  const auto logits = decoder_->step(step.hidden, step.rows, step.position, step.answer);
  return logits && (!step.answer || !differs(between(*logits, *checked)));
}

Status DoubtingDecoder::waited_for() {
  const Status finished = device_.finish();
  if (finished) return {};
  return fault_found(fault_of(device_.flight().read(), finished.error()));
}

// A step may be taken twice: it writes the same keys and values again.
Result<std::span<const float>> DoubtingDecoder::both(const Step& step,
                                                     std::optional<CheckRhythm>& rhythm) {
  CLVET_ASSIGN_OR_RETURN(const std::span<const float> checked, confirmed_by_host(step));
  const double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(const std::span<const float> logits, unconfirmed(step));
  if (!step.answer) CLVET_RETURN_IF_ERROR(waited_for());
  const double step_ms = ms_since(started);
  if (step.answer) {
    const AnswerDifference difference = between(logits, checked);
    if (differs(difference)) {
      Fault fault{.verdict = Verdict::kNondeterministic,
                  .evidence = fmt::format(
                      "output '{}' differs by {:.2g} of its largest value from run to run",
                      "logits", difference.part)};
      doubt_maps(
          device_, [&] { return is_right_again(step); }, fault);
      return fault_found(std::move(fault));
    }
  }
  rhythm = rhythm_after_check(step_ms, checking_ms_, !suspicion_of(checked).empty());
  return logits;
}

Result<std::span<const float>> DoubtingDecoder::step(std::span<const float> hidden, int64_t rows,
                                                     int64_t position, bool answer) {
  const Step step{hidden, rows, position, answer};
  if (!checking_) return unconfirmed(step);
  std::optional<CheckRhythm>& rhythm = rhythm_of(step);
  if (!rhythm || is_due(*rhythm, rate_)) return both(step, rhythm);
  CLVET_ASSIGN_OR_RETURN(const std::span<const float> logits, unconfirmed(step));
  if (!rhythm->odd && !suspicion_of(logits).empty()) return both(step, rhythm);
  // What gives no answer is not waited for.
  if (answer && is_too_fast(*rhythm, decoder_->answer_ms())) return both(step, rhythm);
  ++rhythm->since;
  return logits;
}

}  // namespace clvet
