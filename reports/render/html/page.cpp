#include "reports/render/html/page.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/language.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/frame.h"
#include "reports/render/html/parts.h"

namespace clvet {
namespace {

std::string title_of(const std::vector<NamedReport>& reports) {
  if (reports.size() != 1) return tr("OpenCL reports of {} machines", reports.size());
  const Report& report = reports.front().report;
  for (const std::string& name : {report.host.board, report.host.soc, report.host.cpu}) {
    if (!name.empty()) return tr("OpenCL on {}", name);
  }
  return tr("OpenCL report");
}

std::string anchor(size_t report, size_t device) { return fmt::format("r{}d{}", report, device); }

void add_contents(std::string& page, const std::vector<NamedReport>& reports) {
  Html nav;
  // The script labels its buttons with the last two.
  nav.open("nav", {{"aria-label", tr("Contents")},
                   {"data-open", tr("Open all folds")},
                   {"data-close", tr("Close all folds")}});
  nav.markup("<ul>\n");
  for (size_t i = 0; i < reports.size(); ++i) {
    const auto& devices = reports[i].report.devices;
    if (reports.size() > 1) {
      nav.open("li").element("a", reports[i].name, {{"href", fmt::format("#r{}", i)}}).close("li");
    }
    for (size_t j = 0; j < devices.size(); ++j) {
      nav.open("li").element("a", devices[j].name, {{"href", "#" + anchor(i, j)}}).close("li");
    }
    for (const char* part : {"Advice", "Discovery", "Host", "Run"}) {
      nav.open("li");
      nav.element("a", translated(part), {{"href", fmt::format("#r{}-{}", i, part)}}).close("li");
    }
  }
  nav.markup("</ul></nav>\n");
  page += nav.str();
}

void add_warnings(Html& page, const Report& report) {
  if (report.devices.empty()) {
    page.open("p", {{"class", "warning"}}).element("b", tr("No OpenCL device was found."));
    page.text(" " + tr("Models run on the CPU. Discovery lists what was tried.")).close("p");
  }
  if (report.complete) return;
  page.element("p",
               report.run.only_cases.empty()
                   ? tr("This probe was stopped early: the missing cases were not tried.")
                   : tr("This probe tried only the cases asked for."),
               {{"class", "warning"}});
}

template <class Add>
void add_section(Html& page, const std::string& id, Add add) {
  page.open("section", {{"id", id}});
  add();
  page.markup("</section>\n");
}

Html report_part(const NamedReport& named, size_t index, bool alone) {
  const Report& report = named.report;
  Html page;
  EvidenceBudget budget;
  const std::string id = fmt::format("r{}", index);
  page.open("article", {{"id", id}});
  if (!alone) page.element("h1", named.name);
  page.element("p",
               tr("{}, {} · {} cases of tier {} · {}", report.host.os, report.host.cpu,
                  report.run.cases, report.run.tier, report.created),
               {{"class", "dim"}});
  add_warnings(page, report);
  for (size_t i = 0; i < report.devices.size(); ++i) {
    add_device(page, report, report.devices[i], anchor(index, i), budget);
  }
  add_section(page, id + "-Use", [&] { add_tombstones(page, report.tombstones); });
  add_section(page, id + "-Advice", [&] { add_advice(page, report.advice); });
  add_section(page, id + "-Discovery", [&] { add_discovery(page, report); });
  add_section(page, id + "-Host", [&] { add_host(page, report.host); });
  add_section(page, id + "-Run", [&] { add_run(page, report); });
  page.markup("</article>\n");
  return page;
}

}  // namespace

std::string html_page(const std::vector<NamedReport>& reports) {
  std::string body = Html().open("header").element("h1", title_of(reports)).close("header").str();
  add_contents(body, reports);
  body += "<main>\n";
  for (size_t i = 0; i < reports.size(); ++i) {
    body += report_part(reports[i], i, reports.size() == 1).str();
  }
  return framed_page(
      {title_of(reports), std::string(page_part("page.css")), {std::string(page_part("page.js"))}},
      body + "</main>\n");
}

}  // namespace clvet
