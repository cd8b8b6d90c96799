#include "reports/render/bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "reports/render/text.h"
#include "runtime/plan/plan.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/figures.h"
#include "runtime/run/profile.h"

namespace clvet {
namespace {

constexpr size_t kWide = 10;

// Right-aligned; a Chinese character has three bytes, and is as wide as two letters.
std::string cell(const std::string& text) {
  size_t wide = 0;
  for (const char c : text) wide += (c & 0x80) == 0 || (c & 0xC0) == 0xC0 ? 1 : 0;
  for (const char c : text) wide += (c & 0xC0) == 0xC0 ? 1 : 0;
  return std::string(wide < kWide ? kWide - wide : 1, ' ') + text;
}

std::string heading() {
  std::string line(8, ' ');
  for (const std::string& word : {tr("runs"), tr("mean"), tr("sigma"), tr("min"), tr("median"),
                                  std::string("p90"), std::string("p99")})
    line += cell(word);
  return line + "   ms\n";
}

std::string line_of(const Measurement& row) {
  std::string line = fmt::format("{:<8}", row.name) + cell(std::to_string(row.samples_ms.size()));
  const auto figures = figures_of(row.samples_ms);
  if (!figures) return line + "\n";
  const auto add = [&](double value) { line += cell(fmt::format("{:.3f}", value)); };
  add(figures->mean);
  if (figures->sigma)
    add(*figures->sigma);
  else
    line += cell("-");
  for (const double value : {figures->min, figures->median, figures->p90, figures->p99}) add(value);
  if (row.tokens > 0) line += "   " + tr("{:.1f} tokens/s", tokens_a_second(row));
  return line + "\n";
}

constexpr size_t kShownSteps = 10;

// Of the time that a step took, the part that a device at its best would have needed; empty: that
// is not known.
std::string share_of_best(const ProfiledStep& step) {
  if (step.bound_ms <= 0 || step.ms <= 0) return "-";
  return fmt::format("{:.0f} %", std::min(100 * step.bound_ms / step.ms, 100.0));
}

std::string title_of(const ProfiledStep& step) {
  std::string title;
  if (step.kind == StepKind::kUpload) title = tr("upload") + " ";
  if (step.kind == StepKind::kDownload) title = tr("download") + " ";
  for (const std::string& word : {step.op, step.name, step.variant})
    if (!word.empty()) title += word + " ";
  return one_line(title.substr(0, title.size() - 1));
}

std::string profile_text(const Profile& profile) {
  std::vector<const ProfiledStep*> slowest;
  double sum = 0;
  for (const ProfiledStep& step : profile) {
    slowest.push_back(&step);
    sum += step.ms;
  }
  std::ranges::stable_sort(slowest, std::greater(), &ProfiledStep::ms);
  slowest.resize(std::min(slowest.size(), kShownSteps));
  std::string text =
      tr("the slowest of {} steps, each timed alone ({:.3f} ms together):", profile.size(), sum) +
      "\n";
  text += cell("ms") + cell(tr("share")) + cell(tr("of best")) + "   " + tr("step") + "\n";
  for (const ProfiledStep* step : slowest) {
    text += cell(fmt::format("{:.3f}", step->ms));
    text += cell(fmt::format("{:.1f} %", sum > 0 ? 100 * step->ms / sum : 0));
    text += cell(share_of_best(*step)) + "   " + title_of(*step) + "\n";
  }
  return text;
}

}  // namespace

std::string bench_text(const BenchRecord& record) {
  std::string text = record.device == "host"
                         ? tr("on the host, {} threads", record.threads)
                         : tr("on {} with {}", record.device, describe(record.combination));
  if (record.interrupted) text += tr(", interrupted");
  text += "\n" + heading();
  for (const Measurement& row : record.measurements) text += line_of(row);
  if (record.profile) text += profile_text(*record.profile);
  return text;
}

}  // namespace clvet
