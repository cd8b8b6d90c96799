// Advice, discovery, the host and the run.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/parts.h"
#include "reports/render/html/tables.h"
#include "reports/render/shown.h"

namespace clvet {
namespace {

void add_candidates(Html& page, const std::vector<CandidateReport>& candidates, bool absent) {
  open_table(page, absent ? tr("Names that were not found") : tr("Libraries that were found"),
             {tr("name"), tr("source of the name"), tr("outcome"), tr("reason"), tr("file"),
              tr("entry points"), tr("seconds")});
  for (const CandidateReport& row : candidates) {
    if ((row.outcome == CandidateOutcome::kAbsent) != absent) continue;
    const bool good = row.outcome == CandidateOutcome::kUsable;
    page.open("tr").element("th", shorten(row.name, kLongestText), {{"scope", "row"}});
    page.element("td", shown(row.origin));
    page.element("td", shown(row.outcome), {{"class", good ? "good" : absent ? "none" : "false"}});
    page.element("td", shorten(translated(row.reason), kLongestText));
    page.element("td", shorten(row.path, kLongestText));
    page.element("td", std::to_string(row.symbols));
    page.element("td", fmt::format("{:.2g}", row.seconds)).markup("</tr>\n");
  }
  close_table(page);
}

std::string all_faults(const IcdFileReport& file) {
  std::string text;
  for (const IcdFault& fault : file.faults)
    text += (text.empty() ? "" : "; ") + translated(fault.text);
  return text;
}

void add_icd_files(Html& page, const std::vector<IcdFileReport>& files) {
  open_table(page, tr("ICD files"), {tr("file"), tr("names the library"), tr("faults")});
  for (const IcdFileReport& row : files) {
    page.open("tr").element("th", shorten(row.path, kLongestText), {{"scope", "row"}});
    page.element("td", shorten(row.target, kLongestText));
    page.element("td", shorten(all_faults(row), kLongestText));
    page.markup("</tr>\n");
  }
  close_table(page);
}

constexpr std::string_view kKnownIssue = "known-";  // begins the id of their advice

// An address is a link where all of it is shown.
void add_shown(Html& page, const std::string& text) {
  if (text.size() <= kLongestText)
    add_linked(page, text);
  else
    page.text(shorten(text, kLongestText));
}

void add_fixes_and_evidence(Html& page, const AdviceReport& row) {
  if (!row.fixes.empty()) {
    page.markup("<ul>\n");
    for (const std::string& fix : row.fixes) {
      page.open("li");
      add_shown(page, fix);
      page.close("li");
    }
    page.markup("</ul>\n");
  }
  for (const std::string& text : row.evidence) {
    page.open("p", {{"class", "dim"}}).open("code");
    add_shown(page, translated(text));
    page.markup("</code></p>");
  }
}

// Each is a fold. Those that trials refute have no fix, and come last.
void add_known_issues(Html& page, std::vector<const AdviceReport*> known) {
  if (known.empty()) return;
  const auto refuted = std::stable_partition(
      known.begin(), known.end(), [](const AdviceReport* row) { return !row->fixes.empty(); });
  page.element("h3", tr("Known issues of such drivers: {}, of which {} do not show here",
                        known.size(), known.end() - refuted));
  for (const AdviceReport* row : known) {
    page.open("details", {{"class", "advice kind"}});
    page.element("summary", shorten(row->cause, kLongestText));
    add_fixes_and_evidence(page, *row);
    close_fold(page);
  }
}

}  // namespace

void add_tombstones(Html& page, const std::vector<Tombstone>& tombstones) {
  if (tombstones.empty()) return;
  page.element("h2", tr("Failed in use"));
  page.element("p", tr("Not used any more, until the next probe tries it again."));
  open_table(page, "", {tr("kernel"), tr("what it did"), tr("evidence"), tr("date")});
  for (const Tombstone& row : tombstones) {
    page.open("tr").element(
        "th", row.variant.empty() ? tr("all kernels") : shorten(row.variant, kLongestText),
        {{"scope", "row"}});
    page.element("td", shown_event(row.verdict, row.stage, 0));
    page.element("td", shorten(translated(row.evidence), kLongestText));
    page.element("td", shorten(row.date, kLongestText));
    page.markup("</tr>\n");
  }
  close_table(page);
}

void add_advice(Html& page, const std::vector<AdviceReport>& advice) {
  page.element("h2", tr("Advice"));
  std::vector<const AdviceReport*> known;
  for (const AdviceReport& row : advice) {
    if (row.lang != to_string(language())) continue;
    if (row.id.starts_with(kKnownIssue)) {
      known.push_back(&row);
      continue;
    }
    page.open("article", {{"class", "advice"}});
    page.open("p").element("b", shorten(row.cause, kLongestText)).markup("</p>");
    add_fixes_and_evidence(page, row);
    page.markup("</article>\n");
  }
  add_known_issues(page, std::move(known));
}

void add_discovery(Html& page, const Report& report) {
  const LoaderReport& loader = report.loader;
  page.element("h2", tr("Discovery"));
  page.element("p", loader.path.empty()
                        ? tr("No OpenCL loader is installed.")
                        : tr("Loader: {} {}, {}", shown(loader.kind), loader.version, loader.path));
  const auto absent =
      std::count_if(report.candidates.begin(), report.candidates.end(),
                    [](const auto& row) { return row.outcome == CandidateOutcome::kAbsent; });
  if (static_cast<size_t>(absent) < report.candidates.size())
    add_candidates(page, report.candidates, false);
  if (!report.icd_files.empty()) add_icd_files(page, report.icd_files);
  if (absent == 0) return;
  open_fold(page, tr("{} other known names were not found", absent));
  add_candidates(page, report.candidates, true);
  close_fold(page);
}

void add_host(Html& page, const HostReport& host) {
  std::vector<std::string> nodes;
  for (const DeviceNode& node : host.nodes) nodes.push_back(shown_node(node));
  page.element("h2", tr("Host"));
  std::vector<std::pair<std::string, std::string>> rows{
      {tr("board"), host.board},
      {"SoC", host.soc},
      {tr("system"), host.os},
      {tr("kernel"), host.kernel},
      {tr("C library"), host.libc},
      {"CPU", host.cpu},
      {tr("memory"), fmt::format("{} MiB", host.memory >> 20)},
      {tr("device nodes"), fmt::format("{}", fmt::join(nodes, ", "))},
      {tr("kernel drivers"), fmt::format("{}", fmt::join(host.kernel_drivers, ", "))}};
  for (const auto& [name, value] : host.env) rows.emplace_back("$" + name, value);
  add_facts(page, tr("The machine"), rows);
}

void add_run(Html& page, const Report& report) {
  const RunReport& run = report.run;
  page.element("h2", tr("The run"));
  std::vector<std::pair<std::string, std::string>> rows{
      {tr("cases"), std::to_string(run.cases)},
      {tr("tier"), run.tier},
      {tr("only the cases"), fmt::format("{}", fmt::join(run.only_cases, ", "))}};
  for (const auto& [word, count] : run.counts)
    rows.emplace_back(translated(word), std::to_string(count));
  rows.emplace_back(tr("seconds"),
                    tr("{:.1f}, of which {:.1f} in driver calls", run.wall_s, run.driver_s));
  rows.emplace_back(tr("attempts"), std::to_string(run.attempts));
  rows.emplace_back(tr("records synced to disk"), std::to_string(run.synced_records));
  rows.emplace_back(tr("made"), report.created + ", clvet " + report.tool_version);
  rows.emplace_back(tr("kernel set"), report.kernel_set);
  add_facts(page, tr("Cases by verdict, and time"), rows);
}

}  // namespace clvet
