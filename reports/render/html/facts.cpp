// Advice, discovery, the host and the run.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/parts.h"
#include "reports/render/html/tables.h"

namespace clvet {
namespace {

void add_candidates(Html& page, const std::vector<CandidateReport>& candidates, bool absent) {
  open_table(page, absent ? "Names that exist nowhere here" : "Libraries that were found",
             {"name", "tried because", "outcome", "why", "file", "entry points", "s"});
  for (const CandidateReport& row : candidates) {
    if ((row.outcome == CandidateOutcome::kAbsent) != absent) continue;
    const bool good = row.outcome == CandidateOutcome::kUsable;
    page.open("tr").element("th", shorten(row.name, kLongestText), {{"scope", "row"}});
    page.element("td", to_string(row.origin));
    page.element("td", to_string(row.outcome),
                 {{"class", good     ? "good"
                            : absent ? "none"
                                     : "false"}});
    page.element("td", shorten(row.reason, kLongestText));
    page.element("td", shorten(row.path, kLongestText));
    page.element("td", std::to_string(row.symbols));
    page.element("td", fmt::format("{:.2g}", row.seconds)).markup("</tr>\n");
  }
  close_table(page);
}

std::string all_faults(const IcdFileReport& file) {
  std::string text;
  for (const IcdFault& fault : file.faults) text += (text.empty() ? "" : "; ") + fault.text;
  return text;
}

void add_icd_files(Html& page, const std::vector<IcdFileReport>& files) {
  open_table(page, "ICD files", {"file", "names", "faults"});
  for (const IcdFileReport& row : files) {
    page.open("tr").element("th", shorten(row.path, kLongestText), {{"scope", "row"}});
    page.element("td", shorten(row.target, kLongestText));
    page.element("td", shorten(all_faults(row), kLongestText));
    page.markup("</tr>\n");
  }
  close_table(page);
}

}  // namespace

void add_advice(Html& page, const std::vector<AdviceReport>& advice) {
  std::vector<std::string> ids;
  for (const AdviceReport& row : advice) {
    if (std::find(ids.begin(), ids.end(), row.id) == ids.end()) ids.push_back(row.id);
  }
  page.markup("<h2>Advice <span lang=\"zh\">建议</span></h2>\n");
  for (const std::string& id : ids) {
    page.markup("<article class=\"advice\">\n");
    std::vector<std::string> evidence;
    for (const AdviceReport& row : advice) {
      if (row.id != id) continue;
      page.open("div", {{"lang", row.lang}});
      page.open("p").element("b", shorten(row.cause, kLongestText)).markup("</p><ul>\n");
      for (const std::string& fix : row.fixes) page.element("li", shorten(fix, kLongestText));
      page.markup("</ul></div>\n");
      evidence = row.evidence;
    }
    for (const std::string& row : evidence) {
      page.open("p", {{"class", "dim"}}).element("code", shorten(row, kLongestText)).close("p");
    }
    page.markup("</article>\n");
  }
}

void add_discovery(Html& page, const Report& report) {
  const LoaderReport& loader = report.loader;
  page.markup("<h2>Discovery</h2>\n");
  page.element("p", loader.path.empty() ? std::string("No OpenCL loader is installed.")
                                        : fmt::format("Loader: {} {}, {}", to_string(loader.kind),
                                                      loader.version, loader.path));
  const auto absent =
      std::count_if(report.candidates.begin(), report.candidates.end(),
                    [](const auto& row) { return row.outcome == CandidateOutcome::kAbsent; });
  if (static_cast<size_t>(absent) < report.candidates.size())
    add_candidates(page, report.candidates, false);
  if (!report.icd_files.empty()) add_icd_files(page, report.icd_files);
  if (absent == 0) return;
  page.markup("<details><summary>");
  page.text(fmt::format("{} other known names exist nowhere here", absent)).markup("</summary>\n");
  add_candidates(page, report.candidates, true);
  page.markup("</details>\n");
}

void add_host(Html& page, const HostReport& host) {
  page.markup("<h2>Host</h2>\n");
  std::vector<std::pair<std::string, std::string>> rows{
      {"board", host.board},
      {"SoC", host.soc},
      {"system", host.os},
      {"kernel", host.kernel},
      {"C library", host.libc},
      {"CPU", host.cpu},
      {"memory", fmt::format("{} MiB", host.memory >> 20)},
      {"device nodes", fmt::format("{}", fmt::join(to_strings(host.nodes), ", "))},
      {"kernel drivers", fmt::format("{}", fmt::join(host.kernel_drivers, ", "))}};
  for (const auto& [name, value] : host.env) rows.emplace_back("$" + name, value);
  add_facts(page, "The machine", rows);
}

void add_run(Html& page, const Report& report) {
  const RunReport& run = report.run;
  page.markup("<h2>The run</h2>\n");
  std::vector<std::pair<std::string, std::string>> rows{
      {"cases", std::to_string(run.cases)},
      {"tier", run.tier},
      {"only the cases", fmt::format("{}", fmt::join(run.only_cases, ", "))}};
  for (const auto& [word, count] : run.counts) rows.emplace_back(word, std::to_string(count));
  rows.emplace_back(
      "seconds", fmt::format("{:.1f}, of which {:.1f} in driver calls", run.wall_s, run.driver_s));
  rows.emplace_back("attempts", std::to_string(run.attempts));
  rows.emplace_back("synced records", std::to_string(run.synced_records));
  rows.emplace_back("made", fmt::format("{} by clvet {}", report.created, report.tool_version));
  rows.emplace_back("kernel set", report.kernel_set);
  add_facts(page, "Cases by verdict, and time", rows);
}

}  // namespace clvet
