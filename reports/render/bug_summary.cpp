#include "reports/render/bug_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/redact.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

constexpr size_t kLongestLine = 300;
constexpr size_t kMostListed = 4;

std::string joined(const std::vector<std::string>& rows) {
  std::vector<std::string> shown(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMostListed)));
  if (rows.size() > shown.size())
    shown.push_back(fmt::format("{} more", rows.size() - shown.size()));
  return shown.empty() ? "none" : fmt::format("{}", fmt::join(shown, "; "));
}

// The parts that are not empty.
std::string with_commas(std::vector<std::string> parts) {
  std::erase(parts, std::string());
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string tool(const Report& report) {
  return with_commas({"clvet " + report.tool_version, "kernels " + report.kernel_set.substr(0, 12),
                      report.created.substr(0, 10), report.run.tier + " tier",
                      report.complete ? "complete" : "not complete"});
}

std::string machine(const HostReport& host) {
  const std::string soc = host.soc.empty() ? "" : "SoC " + host.soc;
  return with_commas({host.board, soc, host.cpu,
                      fmt::format("{:.1f} GiB", static_cast<double>(host.memory) / (1 << 30))});
}

std::string nodes(const HostReport& host) {
  std::vector<std::string> parts = {joined(to_strings(host.nodes)),
                                    "kernel drivers: " + joined(host.kernel_drivers)};
  if (!host.gpus.empty()) parts.push_back("GPU: " + joined(host.gpus));
  if (!host.container.empty()) parts.push_back("in a container: " + host.container);
  if (!host.selinux.empty()) parts.push_back("SELinux " + host.selinux);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string loader(const Report& report) {
  std::vector<std::string> files;
  for (const IcdFileReport& row : report.icd_files) {
    files.push_back(fmt::format("{} -> {}{}", file_name_of(row.path), row.target,
                                row.faults.empty() ? "" : " (" + row.faults.front().text + ")"));
  }
  return fmt::format(
      "{}; ICD files: {}",
      with_commas({to_string(report.loader.kind), report.loader.version, report.loader.path}),
      joined(files));
}

std::string libraries(const Report& report) {
  std::vector<std::string> rows;
  for (const CandidateReport& row : report.candidates) {
    if (row.outcome != CandidateOutcome::kAbsent)
      rows.push_back(row.name + " " + to_string(row.outcome));
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
  for (const DeviceReport& row : report.devices)
    rows.push_back(
        row.id + " " +
        (row.best ? to_string(row.best->combination) : "no combination is wholly right"));
  return joined(rows);
}

std::string counts(const Report& report) {
  std::map<std::string, int> counted;
  for (const VerdictReport& row : report.verdicts) ++counted[to_string(row.verdict)];
  std::vector<std::string> rows;
  for (const auto& [word, count] : counted) rows.push_back(fmt::format("{} {}", count, word));
  return rows.empty() ? "none" : fmt::format("{}", fmt::join(rows, ", "));
}

std::string failures(const Report& report) {
  std::map<std::string, int> counted;
  for (const VerdictReport& row : report.verdicts) {
    if (!is_failure(row.verdict)) continue;
    std::string how =
        fmt::format("{} {} in {}", row.op, to_string(row.verdict), to_string(row.stage));
    if (row.evidence.signal)
      how += fmt::format(" (signal {})", row.evidence.signal);
    else if (row.evidence.cl_error)
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
    if (row.lang == "en") advice.push_back(row.id);
  }
  for (const auto& [name, value] : report.host.env) {
    variables.push_back(name + "=" + value);
  }
  return fmt::format("{}; variables: {}", joined(advice), joined(variables));
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
      {"loader", loader(report)},
      {"libraries", libraries(report)},
      {"devices", devices(report)},
      {"best", best(report)},
      {"verdicts", fmt::format("{}; failures: {}", counts(report), failures(report))},
      {"advice", settings(report)}};
  std::string text;
  for (const auto& [name, what] : lines)
    text += fmt::format("{}: {}\n", name, shorten(redact(what), kLongestLine));
  return text;
}

}  // namespace clvet
