#include "probe/diagnose/report_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/diagnose/fact.h"
#include "probe/diagnose/rules.h"
#include "probe/files/icd_view.h"
#include "probe/files/library_names.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

void add_text(const std::string& source, const std::string& text, std::vector<Fact>& facts) {
  if (text.empty()) return;
  facts.push_back({"text", {{"source", source}, {"text", text}}});
}

bool ends_badly(const CandidateReport& row) {
  return row.outcome == CandidateOutcome::kCrash || row.outcome == CandidateOutcome::kExited ||
         row.outcome == CandidateOutcome::kHang;
}

bool is_common(LoaderKind kind) {
  return kind == LoaderKind::kOclIcd || kind == LoaderKind::kKhronos;
}

// The drivers of ICD files that do no harm alone, by name.
std::vector<std::string> drivers_fine_alone(const Report& report) {
  std::vector<std::string> names;
  for (const CandidateReport& row : report.candidates) {
    const bool loaded =
        row.outcome == CandidateOutcome::kUsable || row.outcome == CandidateOutcome::kNoDevice;
    if (row.origin == Origin::kIcdFile && ends_badly(row)) return {};
    if (row.origin == Origin::kIcdFile && loaded) names.push_back(row.name);
  }
  return names;
}

// The loader ends badly with all drivers together, and each alone does not: they clash.
bool is_clash(const CandidateReport& row, const std::vector<std::string>& fine_alone) {
  return row.origin == Origin::kLoader && ends_badly(row) && fine_alone.size() > 1;
}

// It gave an answer, even if that is that there is nothing.
bool lists(const CandidateReport& row) {
  return row.outcome == CandidateOutcome::kUsable || row.outcome == CandidateOutcome::kNoDevice ||
         row.outcome == CandidateOutcome::kNoPlatform;
}

bool is_listed(const DeviceReport& device, const std::set<std::string>& loaders) {
  return loaders.count(device.library) > 0 ||
         std::any_of(device.also_via.begin(), device.also_via.end(),
                     [&](const std::string& name) { return loaders.count(name) > 0; });
}

// Drivers that have devices alone, which the loader does not list: those of ICD files, and those
// of GPUs that no ICD file names (one for the CPU may well have been left out on purpose).
void add_hidden_drivers(const Report& report, std::vector<Fact>& facts) {
  std::set<std::string> loaders;
  std::map<std::string, const CandidateReport*> drivers;
  for (const CandidateReport& row : report.candidates) {
    if (row.origin == Origin::kLoader && lists(row)) loaders.insert(row.name);
    if (row.origin != Origin::kLoader && row.outcome == CandidateOutcome::kUsable)
      drivers[row.name] = &row;
  }
  if (loaders.empty() || report.loader.kind == LoaderKind::kVendor) return;
  for (const DeviceReport& row : report.devices) {
    const auto driver = drivers.find(row.library);
    if (is_listed(row, loaders) || driver == drivers.end()) continue;
    const bool named = driver->second->origin == Origin::kIcdFile;
    if (!named && row.type == "cpu") continue;
    facts.push_back({"hidden",
                     {{"why", named ? "left-out" : "not-named"},
                      {"library", row.library},
                      {"path", driver->second->path},
                      {"icd_path", usual_icd_file(driver->second->path)},
                      {"device", row.name},
                      {"loader", to_string(report.loader.kind)}}});
  }
}

void add_candidate_facts(const Report& report, std::vector<Fact>& facts) {
  const std::vector<std::string> fine_alone = drivers_fine_alone(report);
  for (const CandidateReport& row : report.candidates) {
    const std::string outcome = to_string(row.outcome);
    facts.push_back({"candidate",
                     {{"name", row.name},
                      {"path", row.path},
                      {"family", family_of(row.name)},
                      {"origin", to_string(row.origin)},
                      {"outcome", outcome},
                      {"reason", row.reason},
                      {"loader", yes_or_no(!row.path.empty() && row.path == report.loader.path)},
                      {"clash", yes_or_no(is_clash(row, fine_alone))},
                      {"drivers", fmt::format("{}", fmt::join(fine_alone, ", "))}}});
  }
}

void add_icd_faults(const Report& report, std::vector<Fact>& facts) {
  for (const IcdFileReport& row : report.icd_files) {
    for (const IcdFault& fault : row.faults) {
      facts.push_back({"icd-fault",
                       {{"path", row.path},
                        {"target", row.target},
                        {"kind", to_string(fault.kind)},
                        {"fault", fault.text}}});
    }
  }
}

void add_node_facts(const Report& report, std::vector<Fact>& facts) {
  for (const DeviceNode& node : report.host.nodes) {
    facts.push_back({"node",
                     {{"path", node.path},
                      {"state", node.accessible ? "present" : "denied"},
                      {"seen", to_string(node)},
                      {"container", report.host.container}}});
  }
}

// A driver that answered and gave nothing. The loader answers so where it has no driver at all.
bool is_empty_driver(const Report& report, const CandidateReport& row) {
  if (row.outcome == CandidateOutcome::kNoDevice) return true;
  const std::string name = file_name_of(row.name);
  const bool loader = row.origin == Origin::kLoader || name.starts_with("libOpenCL.so");
  if (loader && report.loader.kind != LoaderKind::kVendor) return false;
  return row.outcome == CandidateOutcome::kNoPlatform ||
         (row.outcome == CandidateOutcome::kError && !row.path.empty());
}

void add_summary(const Report& report, std::vector<Fact>& facts) {
  const auto any_outcome = [&](auto test) {
    return std::any_of(report.candidates.begin(), report.candidates.end(), test);
  };
  const bool gpu =
      std::any_of(report.devices.begin(), report.devices.end(), [](const auto& device) {
        return device.type != "cpu" && device.name.rfind("llvmpipe", 0) != 0;
      });
  facts.push_back(
      {"machine",
       {{"devices", yes_or_no(!report.devices.empty())},
        {"count", std::to_string(report.devices.size())},
        {"first", report.devices.empty() ? "" : report.devices.front().name},
        {"gpu", yes_or_no(gpu)},
        {"icd_files", yes_or_no(!report.icd_files.empty())},
        {"loader", yes_or_no(is_common(report.loader.kind))},
        {"opened", yes_or_no(any_outcome(
                       [](const auto& row) { return row.outcome != CandidateOutcome::kAbsent; }))},
        {"empty_drivers",
         yes_or_no(any_outcome([&](const auto& row) { return is_empty_driver(report, row); }))},
        {"container", report.host.container},
        {"kernel_drivers", fmt::format("{}", fmt::join(report.host.kernel_drivers, " "))}}});
}

void add_device_facts(const Report& report, std::vector<Fact>& facts) {
  for (const DeviceReport& row : report.devices) {
    const auto compiler = row.properties.find("CL_DEVICE_COMPILER_AVAILABLE");
    const bool absent = compiler != row.properties.end() &&
                        (compiler->second.value == "false" || compiler->second.value == "0");
    facts.push_back({"device",
                     {{"id", row.id},
                      {"name", row.name},
                      {"type", row.type},
                      {"platform", row.platform},
                      {"vendor", row.vendor},
                      {"library", row.library},
                      {"soc", report.host.soc},
                      {"compiler", absent ? "no" : "yes"}}});
    for (const auto& [name, capability] : row.capabilities) {
      facts.push_back({"capability",
                       {{"name", name},
                        {"device", row.name},
                        {"verdict", to_string(capability.verdict)},
                        {"evidence", capability.evidence}}});
    }
  }
}

std::string first_value_of(const Evidence& evidence) {
  return evidence.error ? to_string(evidence.error->first_value) : "";
}

void add_verdict_facts(const Report& report, std::vector<Fact>& facts) {
  for (const VerdictReport& row : report.verdicts) {
    if (row.verdict == Verdict::kPass || row.verdict == Verdict::kUnsupported ||
        row.verdict == Verdict::kMissing)
      continue;
    facts.push_back({"verdict",
                     {{"id", row.id},
                      {"verdict", to_string(row.verdict)},
                      {"stage", to_string(row.stage)},
                      {"call", row.evidence.call},
                      {"cl_error", std::to_string(row.evidence.cl_error)},
                      {"first_value", first_value_of(row.evidence)},
                      {"note", row.evidence.note},
                      {"log", row.evidence.log}}});
  }
}

}  // namespace

std::vector<Fact> facts_of_report(const Report& report) {
  std::vector<Fact> facts;
  add_candidate_facts(report, facts);
  add_icd_faults(report, facts);
  add_node_facts(report, facts);
  for (const CandidateReport& row : report.candidates) {
    if (row.outcome != CandidateOutcome::kAbsent) add_text(row.name, row.reason, facts);
  }
  add_hidden_drivers(report, facts);
  add_summary(report, facts);
  add_device_facts(report, facts);
  add_verdict_facts(report, facts);
  return facts;
}

std::vector<AdviceReport> advice_of_findings(const std::vector<Finding>& findings) {
  std::vector<AdviceReport> rows;
  for (const Finding& finding : findings) {
    for (const char* lang : {"en", "zh"}) {
      AdviceReport row{"class-" + finding.name, finding.cause.at(lang), {}, {}, lang};
      for (const LanguageText& told : finding.evidence) row.evidence.push_back(told.at(lang));
      for (const FoundFix& fix : finding.fixes) row.fixes.push_back(fix.text.at(lang));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace clvet
