#include "reports/render/tune_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "base/language.h"
#include "probe/report/report.h"
#include "reports/render/text.h"
#include "runtime/run/tune_record.h"

namespace clvet {
namespace {

std::string line_of(const TunedRow& row, double least_gain_ms) {
  std::string text;
  const TunedVariant& first = row.call.variants.front();
  const TunedVariant* winner = winner_of(row.call, least_gain_ms);
  if (winner && winner != &first) {
    text += fmt::format("  {}\n", row.call.call);
    text += first.rounds > 0
                ? tr("    {} in place of {}: {:.4g} ms in place of {:.4g}", winner->variant,
                     first.variant, winner->median_ms, first.median_ms)
                : tr("    {} in place of {}", winner->variant, first.variant);
    text += "\n";
  }
  for (size_t i = 0; i < row.call.variants.size(); ++i) {
    const TunedVariant& one = row.call.variants[i];
    if (one.verdict == Verdict::kPass || one.verdict == Verdict::kMissing) continue;
    text += tr("  not used: {}: {}: {}", one.variant, to_string(one.verdict),
               translated(row.notes[i])) +
            "\n";
  }
  return text;
}

}  // namespace

std::string tune_text(const TuneRecord& record) {
  std::string text = tr("on {} with {}", record.device, describe(record.combination)) + "\n";
  if (record.calls == 0) return text + tr("no call of the model has more than one kernel") + "\n";
  text +=
      tr("{} of {} calls measured in {:.0f} s", record.tuned.size(), record.calls, record.seconds);
  if (record.interrupted) text += tr(", interrupted");
  text += "\n";
  for (const TunedRow& row : record.tuned) text += line_of(row, record.least_gain_ms);
  if (const auto sum = sum_of(record)) {
    text +=
        tr("these calls take {:.4g} ms of a run, {:.4g} untuned", sum->tuned_ms, sum->untuned_ms) +
        "\n";
  }
  return text + tr("kept in {}", record.file) + "\n";
}

}  // namespace clvet
