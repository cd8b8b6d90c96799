#include "reports/render/bench_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "base/language.h"
#include "reports/render/text.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/figures.h"

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

}  // namespace

std::string bench_text(const BenchRecord& record) {
  std::string text = record.device == "host"
                         ? tr("on the host, {} threads", record.threads)
                         : tr("on {} with {}", record.device, describe(record.combination));
  if (record.interrupted) text += tr(", interrupted");
  text += "\n" + heading();
  for (const Measurement& row : record.measurements) text += line_of(row);
  return text;
}

}  // namespace clvet
