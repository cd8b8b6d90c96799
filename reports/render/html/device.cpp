// One device: what to use and why, the matrix, the evidence, and what the device says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/parts.h"
#include "reports/render/html/tables.h"
#include "reports/render/shown.h"
#include "reports/render/text.h"
#include "reports/render/verdict_matrix.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

constexpr size_t kMostFailed = 8;

void add_best(Html& page, const DeviceReport& device) {
  page.open("p", {{"class", device.best ? "best" : "best none"}});
  if (device.best) {
    page.element("b", tr("Use {}:", describe(device.best->combination))).markup(" ");
    page.text(shorten(translated(device.best->why), kLongestText)).markup(".</p>\n");
  } else {
    page.element("b", tr("No combination passed every test.")).markup(" ");
    page.text(tr("Models run on the CPU.")).markup("</p>\n");
  }
}

void add_warnings(Html& page, const DeviceReport& device) {
  for (const auto& [name, row] : device.capabilities) {
    if (row.verdict == CapabilityVerdict::kTrue) continue;
    page.element("p",
                 tr("The capability {} is {}: {}", name, shown(row.verdict),
                    shorten(translated(row.evidence), kLongestText)),
                 {{"class", "warning"}});
  }
}

void add_what_failed(Html& page, const std::vector<FailureKind>& failures, const std::string& id) {
  if (failures.empty()) return;
  page.markup("<p>").text(tr("What failed:")).markup(" ");
  for (size_t i = 0; i < failures.size(); ++i) {
    const VerdictWord& word = word_of(failures[i].verdict);
    page.open("a", {{"class", std::string("chip ") + word.tone},
                    {"href", "#" + evidence_anchor(id, i, 0)}});
    page.element("b", std::string(1, word.letter));
    page.text(fmt::format(" {}: {}", shown_event(failures[i].verdict, failures[i].stage, 0),
                          failures[i].cases));
    page.markup("</a> ");
  }
  page.markup("</p>\n");
}

// The greatest speed of each operation among the device's combinations.
std::map<std::string, double> greatest_speeds(const DeviceReport& device) {
  std::map<std::string, double> greatest;
  for (const CombinationReport& row : device.combinations) {
    for (const auto& [op, speed] : row.speed) greatest[op] = std::max(greatest[op], speed);
  }
  return greatest;
}

// A bar as long as the speed is beside the operation's greatest, as a picture: paper shows it, too.
void add_speeds(Html& page, const CombinationReport& row,
                const std::map<std::string, double>& greatest) {
  page.open("td", {{"class", "speeds"}});
  for (const auto& [op, speed] : row.speed) {
    const double most = greatest.at(op);
    const double part = most > 0 && speed > 0 ? std::min(speed / most, 1.0) : 0;
    page.open("div").element("span", fmt::format("{} {}", op, three_digits(speed)));
    page.open("svg", {{"class", "bar"},
                      {"viewBox", "0 0 100 6"},
                      {"preserveAspectRatio", "none"},
                      {"aria-hidden", "true"}});
    page.open("rect", {{"width", fmt::format("{:.1f}", 100 * part)}, {"height", "6"}});
    page.markup("</rect></svg></div>");
  }
  page.close("td");
}

const char* tone_of(CombinationStatus status) {
  switch (status) {
    case CombinationStatus::kPass:
      return "good";
    case CombinationStatus::kPartial:
    case CombinationStatus::kFail:
      return "false";
    case CombinationStatus::kUnsupported:
      return "none";
    default:
      return "open";
  }
}

std::string note_of(const CombinationReport& row) {
  std::string note = translated(row.reason);
  const size_t listed = std::min(row.failed_cases.size(), kMostFailed);
  for (size_t i = 0; i < listed; ++i)
    note += (note.empty() ? tr("failed:") + " " : ", ") + row.failed_cases[i];
  if (listed < row.failed_cases.size())
    note += ", " + tr("and {} more", row.failed_cases.size() - listed);
  return note;
}

// As they are, but a precision of which nothing is supported comes last.
std::vector<const CombinationReport*> in_order(const std::vector<CombinationReport>& rows) {
  std::set<Precision> supported;
  std::vector<const CombinationReport*> ordered;
  for (const CombinationReport& row : rows) {
    if (row.status != CombinationStatus::kUnsupported) supported.insert(row.combination.precision);
    ordered.push_back(&row);
  }
  std::stable_partition(ordered.begin(), ordered.end(), [&](const CombinationReport* row) {
    return supported.contains(row->combination.precision);
  });
  return ordered;
}

void add_combinations(Html& page, const DeviceReport& device) {
  const auto greatest = greatest_speeds(device);
  open_fold(page, tr("Combinations and their speed"), true);
  open_table(page, tr("precision/memory/activations/weights; - means that there are no weights"),
             {tr("combination"), tr("status"), tr("right"), "GFLOP/s", tr("note")});
  for (const CombinationReport* shown_row : in_order(device.combinations)) {
    const CombinationReport& row = *shown_row;
    page.open("tr").element("th", to_string(row.combination), {{"scope", "row"}});
    page.element("td", shown(row.status), {{"class", tone_of(row.status)}});
    page.element("td", fmt::format("{} / {}", row.passed, row.planned));
    add_speeds(page, row, greatest);
    page.element("td", shorten(note_of(row), kLongestText)).markup("</tr>\n");
  }
  close_table(page);
  close_fold(page);
}

void add_capabilities(Html& page, const DeviceReport& device) {
  open_fold(page, tr("Capabilities: claimed and found"), true);
  open_table(page, tr("Capabilities"),
             {tr("capability"), tr("claimed"), tr("found"), tr("evidence")});
  for (const auto& [name, row] : device.capabilities) {
    page.open("tr").element("th", name, {{"scope", "row"}});
    page.element("td", row.claimed ? tr("yes") : tr("no"));
    page.element("td", shown(row.verdict),
                 {{"class", row.verdict == CapabilityVerdict::kTrue ? "good" : "false"}});
    page.element("td", shorten(translated(row.evidence), kLongestText)).markup("</tr>\n");
  }
  close_table(page);
  close_fold(page);
}

void add_properties(Html& page, const DeviceReport& device) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, value] : device.properties) {
    rows.emplace_back(name, value.error ? tr("query failed: {}", value.error) : value.value);
  }
  open_fold(page, tr("Device properties"));
  add_facts(page, tr("What the driver says about the device"), rows);
  close_fold(page);
  open_fold(page, tr("Extensions and driver files"));
  page.markup("<p>");
  for (const std::string& name : device.extensions) page.element("code", name).markup(" ");
  page.markup("</p>\n");
  rows.clear();
  for (const DriverObject& row : device.objects) rows.emplace_back(row.path, row.identity);
  for (const auto& [name, value] : device.variables) rows.emplace_back("$" + name, value);
  rows.emplace_back(tr("environment key"), device.environment_key);
  add_facts(page, tr("Files that the driver mapped, and variables that it reads"), rows);
  close_fold(page);
}

void add_untried(Html& page, const Report& report, const DeviceReport& device) {
  const auto reasons = untried(report, device);
  if (reasons.empty()) return;
  page.markup("<ul class=\"untried\">\n");
  for (const auto& [reason, count] : reasons) {
    page.element(
        "li", tr("{} cases were not tried: {}", count, shorten(translated(reason), kLongestText)));
  }
  page.markup("</ul>\n");
}

void add_title(Html& page, const DeviceReport& device) {
  page.markup("<h2>").text(device.name).markup(" <small>");
  page.text(device.id).markup("</small></h2>\n");
  page.element("p",
               tr("{} · {} · {} · driver {} · through {}", device.platform, device.type,
                  device.device_version, device.driver, device.library),
               {{"class", "dim"}});
  if (!device.also_via.empty()) {
    const std::string others = fmt::format("{}", fmt::join(device.also_via, ", "));
    page.element("p", tr("also via {}", others), {{"class", "dim"}});
  }
}

void add_verdicts(Html& page, const Report& report, const DeviceReport& device,
                  const std::vector<FailureKind>& failures, const std::string& id) {
  page.element("h3", tr("Verdicts"));
  page.element("p",
               tr("The number beside a letter counts cases. A cell with a failure is a link to its "
                  "evidence."),
               {{"class", "dim"}});
  const std::vector<MatrixRow> rows = verdict_matrix(report, device);
  add_legend(page, rows);
  add_matrix(page, rows, failures, id);
  add_untried(page, report, device);
}

}  // namespace

void add_device(Html& page, const Report& report, const DeviceReport& device, const std::string& id,
                EvidenceBudget& budget) {
  const std::vector<FailureKind> found = failures(report, device);
  page.open("section", {{"id", id}, {"class", "device"}});
  add_title(page, device);
  add_best(page, device);
  add_warnings(page, device);
  add_what_failed(page, found, id);
  add_verdicts(page, report, device, found, id);
  if (!found.empty()) {
    page.element("h3", tr("Evidence"));
    add_evidence(page, found, id, budget);
  }
  page.element("h3", tr("The device"));
  add_combinations(page, device);
  add_capabilities(page, device);
  add_properties(page, device);
  page.markup("</section>\n");
}

}  // namespace clvet
