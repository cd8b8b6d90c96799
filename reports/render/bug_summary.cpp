#include "reports/render/bug_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/redact.h"
#include "reports/render/shown.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

constexpr size_t kLongestLine = 300;
constexpr size_t kMostListed = 4;

std::string joined(const std::vector<std::string>& rows) {
  std::vector<std::string> listed(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMostListed)));
  if (rows.size() > listed.size()) listed.push_back(tr("and {} more", rows.size() - listed.size()));
  return listed.empty() ? tr("none") : fmt::format("{}", fmt::join(listed, "; "));
}

// The parts that are not empty.
std::string with_commas(std::vector<std::string> parts) {
  std::erase(parts, std::string());
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string tool(const Report& report) {
  return tr("clvet {}, kernels {}, {}, {} tier, {}", report.tool_version,
            report.kernel_set.substr(0, 12), report.created.substr(0, 10), report.run.tier,
            report.complete ? tr("complete") : tr("not complete"));
}

std::string machine(const HostReport& host) {
  const std::string soc = host.soc.empty() ? "" : "SoC " + host.soc;
  return with_commas({host.board, soc, host.cpu,
                      fmt::format("{:.1f} GiB", static_cast<double>(host.memory) / (1 << 30))});
}

std::string nodes(const HostReport& host) {
  std::vector<std::string> files;
  for (const DeviceNode& node : host.nodes) files.push_back(shown_node(node));
  std::string text = tr("{}; kernel drivers: {}", joined(files), joined(host.kernel_drivers));
  if (!host.gpus.empty()) text += "; GPU: " + joined(host.gpus);
  if (!host.container.empty()) text += tr("; in a container: {}", host.container);
  if (!host.selinux.empty()) text += "; SELinux " + host.selinux;
  return text;
}

// A fault is made fit for strangers first: names are found where English stands around them.
std::string loader(const Report& report, const Redactor& redact) {
  std::vector<std::string> files;
  for (const IcdFileReport& row : report.icd_files) {
    const std::string fault = row.faults.empty() ? "" : translated(redact(row.faults.front().text));
    files.push_back(fmt::format("{} -> {}{}", file_name_of(row.path), row.target,
                                fault.empty() ? "" : " (" + fault + ")"));
  }
  const std::string kind = shown(report.loader.kind);
  return tr("{}; ICD files: {}", with_commas({kind, report.loader.version, report.loader.path}),
            joined(files));
}

std::string libraries(const Report& report) {
  std::vector<std::string> rows;
  for (const CandidateReport& row : report.candidates) {
    if (row.outcome != CandidateOutcome::kAbsent)
      rows.push_back(row.name + " " + shown(row.outcome));
  }
  return joined(rows);
}

std::string devices(const Report& report) {
  std::vector<std::string> rows;
  for (const DeviceReport& row : report.devices) {
    rows.push_back(
        fmt::format("{} {} ({})", row.id, row.name,
                    with_commas({row.type, row.platform, row.driver, row.device_version})));
  }
  return joined(rows);
}

std::string best(const Report& report) {
  std::vector<std::string> rows;
  for (const DeviceReport& row : report.devices) {
    rows.push_back(
        row.id + " " +
        (row.best ? to_string(row.best->combination) : tr("no combination passed every test")));
  }
  return joined(rows);
}

std::string counts(const Report& report) {
  std::map<std::string, int> counted;
  for (const VerdictReport& row : report.verdicts) ++counted[shown(row.verdict)];
  std::vector<std::string> rows;
  for (const auto& [word, count] : counted) rows.push_back(fmt::format("{} {}", count, word));
  return rows.empty() ? tr("none") : fmt::format("{}", fmt::join(rows, ", "));
}

std::string failures(const Report& report) {
  std::map<std::string, int> counted;
  for (const VerdictReport& row : report.verdicts) {
    if (!is_failure(row.verdict)) continue;
    std::string how = row.op + " " + shown_event(row.verdict, row.stage, row.evidence.signal);
    if (!row.evidence.signal && row.evidence.cl_error)
      how += fmt::format(" ({})", row.evidence.cl_error);
    ++counted[how];
  }
  std::vector<std::pair<std::string, int>> ordered(counted.begin(), counted.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> rows;
  for (const auto& [how, count] : ordered) rows.push_back(fmt::format("{} x {}", count, how));
  return joined(rows);
}

std::string settings(const Report& report) {
  std::vector<std::string> advice, variables;
  for (const AdviceReport& row : report.advice) {
    if (row.lang == to_string(language())) advice.push_back(row.id);
  }
  for (const auto& [name, value] : report.host.env) {
    variables.push_back(name + "=" + value);
  }
  return tr("{}; variables: {}", joined(advice), joined(variables));
}

}  // namespace

std::string bug_summary(const Report& report, const std::vector<std::string>& private_words) {
  std::vector<std::string> words = names_in_paths(report);
  words.insert(words.end(), private_words.begin(), private_words.end());
  const Redactor redact(std::move(words), paths_in(report));
  const HostReport& host = report.host;
  const std::pair<const char*, std::string> lines[] = {
      {"tool", tool(report)},
      {"machine", machine(host)},
      {"system", with_commas({host.os, host.kernel, host.libc})},
      {"nodes", nodes(host)},
      {"loader", loader(report, redact)},
      {"libraries", libraries(report)},
      {"devices", devices(report)},
      {"best", best(report)},
      {"verdicts", tr("{}; failures: {}", counts(report), failures(report))},
      {"advice", settings(report)}};
  std::string text;
  for (const auto& [name, what] : lines)
    text += fmt::format("{}: {}\n", translated(name), shorten(redact(what), kLongestLine));
  return text;
}

}  // namespace clvet
