// What failed and what is known of it: a fold for each kind of failure, within it one for each
// kernel and combination.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/parts.h"
#include "reports/render/html/tables.h"
#include "reports/render/shown.h"
#include "reports/render/verdict_matrix.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

constexpr size_t kLongestLog = 4000;
constexpr size_t kMostLogs = 4;
constexpr size_t kLongestNote = 400;

using Cases = std::vector<const VerdictReport*>;

std::string variants_text(size_t count) {
  return std::string(trim(count == 1 ? tr(" 1 variant") : tr(" {} variants", count)));
}

// The case without the kernel and the combination that its group names.
std::string short_name(const VerdictReport& row) {
  const std::string prefix = fmt::format("{}/{}/", row.kernel, to_string(row.combination));
  const std::string_view name = row.case_name;
  return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
}

std::string figure(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : tr("not finite");
}

std::string ending(const Evidence& evidence) {
  std::string text = evidence.call;
  if (evidence.signal) text += tr(", signal {}", evidence.signal);
  if (evidence.exit_status) text += tr(", exit status {}", *evidence.exit_status);
  if (evidence.cl_error) text += tr(", OpenCL error {}", evidence.cl_error);
  return text.starts_with(", ") ? text.substr(2) : text;
}

void add_error(Html& page, const std::optional<ErrorEvidence>& error) {
  if (!error) {
    page.markup("<td></td><td></td><td></td><td></td>");
    return;
  }
  page.element("td", figure(error->max_abs)).element("td", figure(error->bound));
  page.element("td", figure(error->max_ulp)).element("td", std::to_string(error->first_bad));
}

void add_case(Html& page, const VerdictReport& row, bool compared) {
  const Evidence& evidence = row.evidence;
  page.open("tr").element("th", short_name(row), {{"scope", "row"}});
  page.element("td", ending(evidence));
  if (compared) add_error(page, evidence.error);
  page.element("td", fmt::format("{} / {}", row.attempts, row.repeats));
  page.element("td", fmt::format("{:.3g} / {:.3g}", evidence.wall_ms, evidence.cpu_ms));
  page.element("td", shorten(translated(evidence.note), kLongestNote)).markup("</tr>\n");
}

void add_cases(Html& page, const FailureGroup& group) {
  const bool compared = std::any_of(group.cases.begin(), group.cases.end(),
                                    [](const auto* row) { return row->evidence.error; });
  std::vector<std::string> columns = {tr("case"), tr("driver call and how it ended")};
  if (compared) {
    for (const std::string& name :
         {tr("largest error"), tr("bound"), std::string("ULP"), tr("first wrong value at")})
      columns.push_back(name);
  }
  for (const std::string& name : {tr("attempts / repeats"), tr("ms wall / CPU"), tr("note")})
    columns.push_back(name);
  open_table(page, fmt::format("{} · {}", group.kernel, to_string(group.combination)), columns);
  for (const VerdictReport* row : group.cases) add_case(page, *row, compared);
  close_table(page);
}

// Each different text once, with the cases that gave it.
void add_texts(Html& page, const Cases& cases, const std::string& what,
               std::string Evidence::*member) {
  std::map<std::string_view, std::string> names;
  for (const VerdictReport* row : cases) {
    const std::string_view text = trim(row->evidence.*member);
    if (text.empty()) continue;
    std::string& list = names[text];
    list += (list.empty() ? "" : ", ") + short_name(*row);
  }
  size_t shown = 0;
  for (const auto& [text, list] : names) {
    if (shown++ == kMostLogs) {
      page.element("p", tr("report.json has {} more", names.size() - kMostLogs));
      break;
    }
    page.element("p", fmt::format("{} ({})", what, shorten(list, kLongestNote)));
    page.element("pre", shorten(text, kLongestLog), {{"tabindex", "0"}});
  }
}

Html group_body(const FailureGroup& group) {
  Html body;
  std::set<std::string> constructs;
  for (const VerdictReport* row : group.cases)
    constructs.insert(row->constructs.begin(), row->constructs.end());
  if (!constructs.empty()) {
    const std::string list = fmt::format("{}", fmt::join(constructs, ", "));
    body.element("p", tr("The kernel's source uses: {}", list));
  }
  if (group.trial_only) {
    body.element(
        "p", tr("This kernel was tried because other engines use such kernels. clvet does not run "
                "it, so the combination's status does not count it."));
  }
  add_cases(body, group);
  add_texts(body, group.cases, tr("Build log"), &Evidence::log);
  add_texts(body, group.cases, tr("Printed by the driver"), &Evidence::stderr_text);
  return body;
}

void add_group(Html& page, const FailureGroup& group, const std::string& anchor,
               EvidenceBudget& budget) {
  const Html body = group_body(group);
  const bool fits = body.size() <= budget.left;
  if (fits) budget.left -= body.size();
  page.open("details", {{"id", anchor}, {"class", "group"}}).open("summary");
  page.element("code", group.kernel).markup(" ");
  page.element("code", to_string(group.combination));
  page.text(": " + shown_cases(group.cases.size()));
  if (group.trial_only) page.text(tr(", tried because other engines use such kernels"));
  if (!fits) page.text(" (" + tr("the evidence is left out here; report.json has it") + ")");
  page.close("summary");
  if (fits) page.add(body);
  page.markup("</details>\n");
}

}  // namespace

std::string evidence_anchor(const std::string& id, size_t kind, size_t group) {
  return fmt::format("{}k{}g{}", id, kind, group);
}

void add_evidence(Html& page, const std::vector<FailureKind>& failures, const std::string& id,
                  EvidenceBudget& budget) {
  for (size_t kind = 0; kind < failures.size(); ++kind) {
    const FailureKind& row = failures[kind];
    const VerdictWord& word = word_of(row.verdict);
    page.markup("<details class=\"kind\"><summary>");
    page.open("span", {{"class", word.tone}}).element("b", std::string(1, word.letter));
    page.close("span").markup(" ");
    page.element("b", shown_event(row.verdict, row.stage, row.signal));
    page.text(fmt::format(": {}, {}", shown_cases(row.cases), variants_text(row.groups.size())));
    page.close("summary").element(
        "p", fmt::format("{}: {}.", shown(row.verdict), translated(word.meaning)));
    for (size_t group = 0; group < row.groups.size(); ++group) {
      add_group(page, row.groups[group], evidence_anchor(id, kind, group), budget);
    }
    page.markup("</details>\n");
  }
}

}  // namespace clvet
