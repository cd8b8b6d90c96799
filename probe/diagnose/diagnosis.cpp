#include "probe/diagnose/diagnosis.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "probe/diagnose/fact.h"
#include "probe/diagnose/file_facts.h"
#include "probe/diagnose/fix_script.h"
#include "probe/diagnose/report_facts.h"
#include "probe/diagnose/rules.h"
#include "probe/discover/discover.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/kernel_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/files/personalities.h"
#include "probe/files/survey.h"
#include "probe/host/host.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

bool any_pattern(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return text.size() <= 256 && Pattern(pattern).fits(text);
  });
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Why the rule does not accept this device; nullopt where it does.
std::optional<std::string> refusal(const DeviceRule& rule, const DeviceReport& device) {
  if (!rule.types.empty() && !has_word(rule.types, device.type))
    return fmt::format("{} is a device of type {}", device.name, device.type);
  if (any_pattern(rule.not_platforms, device.platform))
    return fmt::format("it skips the platform {}", device.platform);
  if (!rule.names.empty() && !any_pattern(rule.names, device.name))
    return fmt::format("it does not know {}", device.name);
  for (const std::string& word : rule.extensions) {
    if (!has_word(device.extensions, word))
      return fmt::format("{} does not have the extension {}", device.name, word);
  }
  const auto images = device.properties.find("CL_DEVICE_IMAGE_SUPPORT");
  if (rule.images && images != device.properties.end() &&
      (images->second.value == "false" || images->second.value == "0"))
    return fmt::format("{} does not support images", device.name);
  return std::nullopt;
}

// Where the rule takes none of the machine's devices, why not the first: no other way to them
// helps.
std::optional<std::string> refusal_of_all(const DeviceRule& rule, const Report& live) {
  std::optional<std::string> why;
  for (const DeviceReport& device : live.devices) {
    const auto refused = refusal(rule, device);
    if (!refused) return std::nullopt;
    why = why ? why : refused;
  }
  return why;
}

// The machine's own answer for the library, by what discovery got through it; that of the files
// where discovery did not try it, or where the files are not the machine's own any more.
class LiveDevices {
 public:
  LiveDevices(const Report& live, const FileSystemView& own) : live_(live), own_(own) {}

  std::optional<std::string> operator()(const FileSystemView& view, const LinkerSetting& setting,
                                        const Personality& personality,
                                        const Opening& opening) const {
    std::vector<std::string> names;
    for (const CandidateReport& row : live_.candidates) {
      if (row.path == opening.path) names.push_back(row.name);
    }
    const bool changed = &view != &own_ && is_loader(opening.library);
    if (names.empty() || changed) {
      const auto why = devices_by_files(view, setting, personality, opening);
      return why ? why : refusal_of_all(personality.devices, live_);
    }
    std::string why = fmt::format("{} lists no device", opening.path);
    std::string first_platform;
    for (const DeviceReport& device : live_.devices) {
      if (!through(device, names)) continue;
      if (first_platform.empty()) first_platform = device.platform;
      if (personality.devices.first_platform_only && device.platform != first_platform) break;
      const auto refused = refusal(personality.devices, device);
      if (!refused) return std::nullopt;
      why = *refused;
    }
    return why;
  }

 private:
  static bool through(const DeviceReport& device, const std::vector<std::string>& names) {
    return has_word(names, device.library) ||
           std::any_of(device.also_via.begin(), device.also_via.end(),
                       [&](const std::string& name) { return has_word(names, name); });
  }

  const Report& live_;
  const FileSystemView& own_;
};

Result<Report> discover_here(const DiagnosisOptions& options,
                             std::optional<std::vector<std::string>>& scanned) {
  become_subreaper();
  CLVET_ASSIGN_OR_RETURN(Discovery found, discover(options.discovery));
  if (interrupt_requested) return fail(ErrorCode::kDeadlineExceeded, "interrupted");
  scanned = std::move(found.scanned);
  Report report;
  report.host = read_host();
  report.loader = std::move(found.loader);
  report.candidates = std::move(found.candidates);
  report.icd_files = std::move(found.icd_files);
  for (FoundDevice& device : found.devices) report.devices.push_back(std::move(device.report));
  return report;
}

// A driver into which no loader finds its way: an ICD file would not help it.
bool no_loader_enters(const FileSystemView& view, const LinkerSetting& setting,
                      const std::string& path) {
  const Opening opening = open_library(view, setting, path);
  return opening.outcome == Opening::Outcome::kOpened && !has_icd_entry(opening);
}

// Those of the machine's own report come first: what was tried outweighs what the files say.
std::vector<Fact> all_facts(const FileSystemView& view, const Diagnosis& diagnosis) {
  std::vector<Fact> facts = facts_of_files(view, diagnosis.survey);
  if (!diagnosis.live) return facts;
  std::erase_if(facts, [](const Fact& fact) {  // host facts know who may open a node, modes do not
    return fact.kind == "node" && fact.at("state") == "denied";
  });
  std::vector<Fact> live = facts_of_report(*diagnosis.live);
  std::erase_if(live, [&](const Fact& fact) {
    const bool not_named = fact.kind == "hidden" && fact.at("why") == "not-named";
    return fact.kind == "icd-fault" ||
           (not_named && no_loader_enters(view, diagnosis.survey.setting, fact.at("path")));
  });
  live.insert(live.end(), facts.begin(), facts.end());
  return live;
}

// Whether the loader's name led to a device here; nullopt where it was not tried.
std::optional<bool> loader_reaches(const Report& live) {
  std::vector<std::string> loaders;
  for (const CandidateReport& row : live.candidates) {
    if (row.origin == Origin::kLoader) loaders.push_back(row.name);
  }
  if (loaders.empty()) return std::nullopt;
  const auto leads = [&](const std::string& name) { return has_word(loaders, name); };
  return std::any_of(live.devices.begin(), live.devices.end(), [&](const DeviceReport& device) {
    return leads(device.library) ||
           std::any_of(device.also_via.begin(), device.also_via.end(), leads);
  });
}

// What happened here outweighs what the files say.
bool is_reachable(const Diagnosis& found, std::vector<Fact>& facts) {
  const auto tried = found.live ? loader_reaches(*found.live) : std::nullopt;
  const auto files = std::find_if(facts.begin(), facts.end(),
                                  [](const Fact& fact) { return fact.kind == "files"; });
  if (files == facts.end()) return tried.value_or(false);
  if (tried && *tried) files->fields["reachable"] = "yes";
  return tried.value_or(files->at("reachable") == "yes");
}

// By what happened here, or by the files of a tree.
bool any_gpu(const Diagnosis& found) {
  if (!found.live) return found.survey.gpu;
  const auto& devices = found.live->devices;
  return std::any_of(devices.begin(), devices.end(),
                     [](const DeviceReport& row) { return row.type != "cpu"; });
}

std::string what_is_missing(const Diagnosis& found, const Personality& personality) {
  const auto any_library = [&](Opening::Outcome outcome) {
    const auto& rows = found.survey.libraries;
    return std::any_of(rows.begin(), rows.end(),
                       [&](const auto& row) { return row.opening.outcome == outcome; });
  };
  const auto& types = personality.devices.types;
  const bool cpu_is_enough = types.empty() || has_word(types, "cpu");
  if (found.usable && !cpu_is_enough && !any_gpu(found)) return "gpu-driver";
  if (found.usable)
    return found.live && refusal_of_all(personality.devices, *found.live) ? "device" : "";
  if (found.survey.usable) return {};  // a driver is here; findings tell why it has no device
  if (any_library(Opening::Outcome::kNotAccessible)) return "listing";
  return any_library(Opening::Outcome::kOpened) ? "driver" : "library";
}

Status check_root(const std::string& root) {
  std::error_code error;
  if (root.empty() || std::filesystem::is_directory(root, error)) return {};
  return fail(ErrorCode::kNotFound,
              "--root {}: no such folder; name the root folder of a mounted image or of a copy",
              root);
}

// What the script leaves to a person: the linker's cache is none of the files that it takes back.
void add_ldconfig(const Survey& survey, std::vector<ScriptStep>& steps) {
  if (needs_ldconfig(survey, steps.back().changes)) steps.push_back({"ldconfig", {}});
}

void diagnose_framework(const FileSystemView& view, const LinkerSetting& setting,
                        Diagnosis& found) {
  FrameworkDiagnosis& framework = *found.framework;
  const Personality& personality = framework.personality;
  DeviceTest devices = devices_by_files;
  if (found.live) devices = LiveDevices(*found.live, view);
  framework.flags = lookup_on(personality, setting.system).flags;
  framework.replay = replay(personality, view, setting, devices);
  if (framework.replay.end == ReplayEnd::kUsable) return;
  const auto serving = serving_libraries(personality, view, setting);
  framework.change = least_change(personality, view, setting, devices, serving);
  framework.edit = source_edit(personality, view, setting, devices, serving);
  if (!framework.change) framework.missing = what_is_missing(found, personality);
}

}  // namespace

Result<Diagnosis> diagnose(const DiagnosisOptions& options) {
  CLVET_RETURN_IF_ERROR(check_root(options.root));
  CLVET_ASSIGN_OR_RETURN(const std::vector<Rule> rules, failure_rules(options.data_dir));
  Diagnosis found;
  if (!options.as.empty()) {
    CLVET_ASSIGN_OR_RETURN(Personality personality, find_personality(options.data_dir, options.as));
    found.framework = FrameworkDiagnosis{std::move(personality), {}, {}, {}};
  }
  std::error_code error;
  if (!options.root.empty()) found.root = std::filesystem::absolute(options.root, error).string();
  const auto view = view_of(options.root);
  LinkerSetting setting = setting_of(*view);
  setting.variables = variables_of_tree(*view);
  std::optional<std::vector<std::string>> scanned;
  if (options.root.empty()) {
    setting.variables = own_variables();
    CLVET_ASSIGN_OR_RETURN(found.live, discover_here(options, scanned));
  }
  found.survey = survey_files(*view, setting, scanned);
  if (found.live) add_kernel_log(own_kernel_log(), found.survey.kernel);
  found.usable = found.live ? !found.live->devices.empty() : found.survey.usable;
  std::vector<Fact> facts = all_facts(*view, found);
  found.reachable = found.usable && is_reachable(found, facts);
  found.findings = find_failures(rules, facts);
  if (found.framework) diagnose_framework(*view, setting, found);
  return found;
}

std::string source_edit_text(const FrameworkDiagnosis& framework, const std::string& lang) {
  const std::string& title = framework.personality.title;
  const std::string& file = framework.edit->file;
  const std::string head =
      lang == "zh" ? fmt::format("或自行编译 {} 时,在 {} 的名称列表开头加入:", title, file)
                   : fmt::format(
                         "or, if you build {} yourself, add this line at the start of the list of "
                         "names in {}:",
                         title, file);
  return fmt::format("{}\n    \"{}\",", head, framework.edit->name);
}

std::vector<ScriptStep> script_steps(const Diagnosis& diagnosis, const std::string& lang) {
  std::vector<ScriptStep> steps;
  if (diagnosis.framework && diagnosis.framework->change) {
    const FrameworkDiagnosis& framework = *diagnosis.framework;
    steps.push_back({framework.personality.title, framework.change->changes});
    add_ldconfig(diagnosis.survey, steps);
    if (framework.edit) steps.push_back({source_edit_text(framework, lang), {}});
    return steps;
  }
  for (const Finding& finding : diagnosis.findings) {
    if (finding.fixes.empty()) continue;
    const FoundFix& fix = finding.fixes.front();
    steps.push_back({finding.cause.at(lang) + "\n" + fix.text.at(lang), fix.changes});
    add_ldconfig(diagnosis.survey, steps);
  }
  return steps;
}

}  // namespace clvet
