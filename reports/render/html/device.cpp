// One device: what to use and why, the matrix, the evidence, and what the device says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/parts.h"
#include "reports/render/html/tables.h"
#include "reports/render/text.h"
#include "reports/render/verdict_matrix.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

constexpr size_t kMostFailed = 8;

void add_best(Html& page, const DeviceReport& device) {
  page.open("p", {{"class", device.best ? "best" : "best none"}});
  if (device.best) {
    page.element("b", "Use " + describe(device.best->combination) + ".").markup(" ");
    page.text(shorten(device.best->why, kLongestText)).markup(".</p>\n");
  } else {
    page.markup("<b>No combination is wholly right.</b> Models run on the CPU.</p>\n");
  }
}

void add_warnings(Html& page, const DeviceReport& device) {
  for (const auto& [name, row] : device.capabilities) {
    if (row.verdict == CapabilityVerdict::kTrue) continue;
    page.element("p",
                 fmt::format("The capability {} is {}: {}", name, to_string(row.verdict),
                             shorten(row.evidence, kLongestText)),
                 {{"class", "warning"}});
  }
}

void add_what_failed(Html& page, const std::vector<FailureKind>& failures, const std::string& id) {
  if (failures.empty()) return;
  page.markup("<p>What failed: ");
  for (size_t i = 0; i < failures.size(); ++i) {
    const VerdictWord& word = word_of(failures[i].verdict);
    page.open("a", {{"class", std::string("chip ") + word.tone},
                    {"href", "#" + evidence_anchor(id, i, 0)}});
    page.element("b", std::string(1, word.letter));
    page.text(fmt::format(" {} in {}: {}", to_string(failures[i].verdict),
                          to_string(failures[i].stage), failures[i].cases));
    page.markup("</a> ");
  }
  page.markup("</p>\n");
}

std::string speeds(const CombinationReport& row) {
  std::string text;
  for (const auto& [op, speed] : row.speed)
    text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", op, speed);
  return text;
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

void add_combinations(Html& page, const DeviceReport& device) {
  page.markup("<details><summary>Combinations and their speed</summary>\n");
  open_table(page, "precision/memory/activations/weights; a dash where there are no weights",
             {"combination", "status", "right", "GFLOP/s", "note"});
  for (const CombinationReport& row : device.combinations) {
    page.open("tr").element("th", to_string(row.combination), {{"scope", "row"}});
    page.element("td", to_string(row.status), {{"class", tone_of(row.status)}});
    page.element("td", fmt::format("{} of {}", row.passed, row.planned));
    page.element("td", speeds(row));
    std::string note = row.reason;
    const size_t shown = std::min(row.failed_cases.size(), kMostFailed);
    for (size_t i = 0; i < shown; ++i)
      note += (note.empty() ? "failed: " : ", ") + row.failed_cases[i];
    if (shown < row.failed_cases.size())
      note += fmt::format(" and {} more", row.failed_cases.size() - shown);
    page.element("td", shorten(note, kLongestText)).markup("</tr>\n");
  }
  close_table(page);
  page.markup("</details>\n");
}

void add_capabilities(Html& page, const DeviceReport& device) {
  page.markup("<details open><summary>Capabilities: claimed and found</summary>\n");
  open_table(page, "Capabilities", {"capability", "claimed", "found", "evidence"});
  for (const auto& [name, row] : device.capabilities) {
    page.open("tr").element("th", name, {{"scope", "row"}});
    page.element("td", row.claimed ? "yes" : "no");
    page.element("td", to_string(row.verdict),
                 {{"class", row.verdict == CapabilityVerdict::kTrue ? "good" : "false"}});
    page.element("td", shorten(row.evidence, kLongestText)).markup("</tr>\n");
  }
  close_table(page);
  page.markup("</details>\n");
}

void add_properties(Html& page, const DeviceReport& device) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, value] : device.properties) {
    rows.emplace_back(name,
                      value.error ? fmt::format("query failed: {}", value.error) : value.value);
  }
  page.markup("<details><summary>Device properties</summary>\n");
  add_facts(page, "What the driver says of the device", rows);
  page.markup("</details>\n<details><summary>Extensions and driver files</summary>\n<p>");
  for (const std::string& name : device.extensions) page.element("code", name).markup(" ");
  page.markup("</p>\n");
  rows.clear();
  for (const DriverObject& row : device.objects) rows.emplace_back(row.path, row.identity);
  for (const auto& [name, value] : device.variables) rows.emplace_back("$" + name, value);
  rows.emplace_back("environment key", device.environment_key);
  add_facts(page, "Files the driver mapped, and variables it reads", rows);
  page.markup("</details>\n");
}

void add_untried(Html& page, const Report& report, const DeviceReport& device) {
  const auto reasons = untried(report, device);
  if (reasons.empty()) return;
  page.markup("<ul class=\"untried\">\n");
  for (const auto& [reason, count] : reasons) {
    page.element("li", fmt::format("{} cases not tried: {}", count, shorten(reason, kLongestText)));
  }
  page.markup("</ul>\n");
}

void add_title(Html& page, const DeviceReport& device) {
  page.markup("<h2>").text(device.name).markup(" <small>");
  page.text(device.id).markup("</small></h2>\n");
  page.element("p",
               fmt::format("{} · {} · {} · driver {} · through {}", device.platform, device.type,
                           device.device_version, device.driver, device.library),
               {{"class", "dim"}});
  if (!device.also_via.empty()) {
    page.element("p", fmt::format("also via {}", fmt::join(device.also_via, ", ")),
                 {{"class", "dim"}});
  }
}

void add_verdicts(Html& page, const Report& report, const DeviceReport& device,
                  const std::vector<FailureKind>& failures, const std::string& id) {
  page.markup("<h3>Verdicts</h3>\n");
  page.markup(
      "<p class=\"dim\">The number beside a letter counts cases. A cell that names a failure leads "
      "to its evidence.</p>\n");
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
    page.markup("<h3>Evidence</h3>\n");
    add_evidence(page, found, id, budget);
  }
  page.markup("<h3>The device</h3>\n");
  add_combinations(page, device);
  add_capabilities(page, device);
  add_properties(page, device);
  page.markup("</section>\n");
}

}  // namespace clvet
