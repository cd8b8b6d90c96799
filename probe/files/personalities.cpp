#include "probe/files/personalities.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/nearest.h"
#include "base/pattern.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/data/data_files.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/library_names.h"
#include "probe/files/library_scan.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"

namespace clvet {
namespace {

using Words = std::vector<std::string>;

// These throw on a fault; personalities() stops it.
DeviceRule read_rule(const nlohmann::json& json) {
  DeviceRule rule;
  rule.first_platform_only = json.value("first_platform_only", false);
  rule.images = json.value("images", false);
  rule.types = json.value("types", Words());
  rule.extensions = json.value("extensions", Words());
  rule.names = json.value("names", Words());
  rule.not_platforms = json.value("not_platforms", Words());
  for (const Words* patterns : {&rule.names, &rule.not_platforms}) {
    for (const std::string& pattern : *patterns) static_cast<void>(Pattern(pattern));
  }
  return rule;
}

Lookup read_lookup(const nlohmann::json& json) {
  Lookup row;
  row.flags = json.at("flags");
  row.stops_at = json.at("stops_at");
  row.symbol = json.value("symbol", "");
  row.variables = json.value("variables", Words());
  row.variable_alone = json.value("variable_alone", false);
  if (json.contains("prints")) row.prints = json.at("prints");
  for (const char* word : {"opened", "symbol", "exists", "linked"})
    if (row.stops_at == word) return row;
  throw std::invalid_argument(
      fmt::format("stops_at is '{}', but must be opened, symbol, exists or linked", row.stops_at));
}

Personality read_personality(const nlohmann::json& json) {
  Personality row;
  row.name = json.at("name");
  row.title = json.at("title");
  row.source = json.at("source");
  row.lookup = read_lookup(json);
  if (json.contains("systems")) {
    for (const auto& [system, changes] : json.at("systems").items()) {
      nlohmann::json changed = json;
      changed.merge_patch(changes);
      row.lookups[system] = read_lookup(changed);
    }
  }
  row.names = json.at("names");
  row.names.at("linux");
  row.needs = json.at("needs").get<Words>();
  row.google = json.value("google", false);
  if (json.contains("devices")) row.devices = read_rule(json.at("devices"));
  return row;
}

const Words& names_for(const Personality& personality, const LinkerSetting& setting) {
  const std::string system = to_string(setting.system);
  for (const std::string& key : {system + std::to_string(setting.abi.bits), system}) {
    if (const auto found = personality.names.find(key); found != personality.names.end())
      return found->second;
  }
  return personality.names.at("linux");
}

Words names_to_try(const Personality& personality, const LinkerSetting& setting) {
  Words names;
  const Lookup& lookup = lookup_on(personality, setting.system);
  for (const std::string& name : lookup.variables) {
    if (std::string value = setting.variable(name); !value.empty())
      names.push_back(std::move(value));
  }
  if (lookup.variable_alone && !names.empty()) return names;
  const Words& rest = names_for(personality, setting);
  names.insert(names.end(), rest.begin(), rest.end());
  return names;
}

bool has_path(const std::string& name) { return name.find('/') != std::string::npos; }

// One try; true where the framework looks no further.
bool try_name(const Personality& personality, const FileSystemView& view,
              const LinkerSetting& setting, const std::string& name, Opening& opening,
              Replay& out) {
  const Lookup& lookup = lookup_on(personality, setting.system);
  const bool by_stat = lookup.stops_at == "exists";
  if (by_stat && (!has_path(name) || !exists(view, name))) {
    out.steps.push_back({name,
                         Opening::Outcome::kAbsent,
                         {},
                         has_path(name) ? "" : "stat() finds no file of this name"});
    return false;
  }
  opening = open_library(view, setting, name);
  out.steps.push_back({name, opening.outcome, opening.path, opening.detail});
  if (by_stat) return true;
  if (opening.outcome != Opening::Outcome::kOpened) return false;
  if (lookup.stops_at != "symbol" || opening.symbols.count(lookup.symbol) > 0) return true;
  out.steps.back().detail = fmt::format("opened, but it lacks {}", lookup.symbol);
  out.end = ReplayEnd::kMissingSymbols;
  return false;
}

Words missing_symbols(const Personality& personality, const Opening& opening) {
  const bool google =
      opening.symbols.count("enableOpenCL") && opening.symbols.count("loadOpenCLPointer");
  if (google && personality.google) return {};
  Words missing;
  for (const std::string& name : personality.needs)
    if (!opening.symbols.count(name)) missing.push_back(name);
  return missing;
}

// Nothing where it finds none; `out` tells its tries, and the reason.
std::optional<Opening> find_library(const Personality& personality, const FileSystemView& view,
                                    const LinkerSetting& setting, Replay& out) {
  const Words names = names_to_try(personality, setting);
  Opening opening;
  const bool stopped = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return try_name(personality, view, setting, name, opening, out);
  });
  if (stopped && opening.outcome == Opening::Outcome::kOpened) return opening;
  out.reason = out.end == ReplayEnd::kMissingSymbols
                   ? fmt::format("no library has {}", lookup_on(personality, setting.system).symbol)
               : stopped ? "it stops at the first file that exists, and that file does not load"
                         : "none of its names leads to a library";
  return std::nullopt;
}

void finish(const Lookup& lookup, Replay& out) {
  const auto words = lookup.prints.find(to_string(out.end));
  if (words == lookup.prints.end()) return;
  for (std::string line : words->second) {
    const std::string last = out.steps.empty() ? "" : out.steps.back().name;
    if (const size_t at = line.find("{error}"); at != std::string::npos)
      line.replace(at, 7, fmt::format("dlopen failed: library \"{}\" not found", last));
    out.prints.push_back(std::move(line));
  }
}

using Changes = std::vector<Change>;

// Changes worth a try, the least first.
class Proposals {
 public:
  Proposals(const Personality& personality, const FileSystemView& view,
            const LinkerSetting& setting)
      : personality_(personality), view_(view), setting_(setting) {}

  std::vector<Changes> all(const std::vector<Opening>& libraries) {
    mend_icd_files();
    for (const Opening& row : libraries) add_variables(row.path);
    for (const Opening& row : libraries) add_icd_file(row);
    for (const Opening& row : libraries) add_links(row.path, false);
    for (const Opening& row : libraries) add_links(row.path, true);
    return std::move(found_);
  }

 private:
  void mend_icd_files() {
    for (const IcdInView& row : icd_files_of(view_, setting_, loader_in_use(view_, setting_))) {
      const bool opens = row.opening.outcome == Opening::Outcome::kOpened;
      if (!row.usable && opens && !row.file.faults.empty() && row.file.path.ends_with(".icd"))
        found_.push_back({{Change::Kind::kFile, row.file.path, row.file.target + "\n"}});
    }
  }

  void add_variables(const std::string& library) {
    for (const std::string& name : lookup_on(personality_, setting_.system).variables)
      found_.push_back({{Change::Kind::kVariable, name, library}});
    const std::string old = setting_.variable("LD_LIBRARY_PATH");
    found_.push_back({{Change::Kind::kVariable, "LD_LIBRARY_PATH",
                       folder_of(library) + (old.empty() ? "" : ":" + old)}});
  }

  // Where a link would be found: the paths of the list, and bare names in the library's own folder
  // and in the linker's.
  Words places(const std::string& library) const {
    Words found;
    const Words folders = library_folders(view_, setting_);
    const std::string own = "/usr/lib/" + triplet_of(setting_.abi);
    for (const std::string& name : names_for(personality_, setting_)) {
      if (has_path(name)) {
        found.push_back(name);
        continue;
      }
      found.push_back(folder_of(library) + "/" + name);
      found.push_back(own + "/" + name);
      for (const std::string& folder : folders) found.push_back(folder + "/" + name);
    }
    std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return rank(a, library, own) < rank(b, library, own);
    });
    return found;
  }

  static int rank(const std::string& place, const std::string& library, const std::string& own) {
    if (folder_of(place) == folder_of(library)) return 0;
    return folder_of(place) == own ? 1 : 2;
  }

  void add_links(const std::string& library, bool in_the_way) {
    for (const std::string& place : places(library)) {
      const auto folder = resolve(view_, folder_of(place));
      if (!folder || place == library) continue;
      const std::string path = *folder + place.substr(place.rfind('/'));
      const auto there = view_.entry(path);
      if (there.has_value() != in_the_way || path == library) continue;
      const bool beside = *folder == folder_of(library);
      Changes changes;
      if (in_the_way) changes.push_back({Change::Kind::kMove, path, path + ".clvet-disabled"});
      changes.push_back({Change::Kind::kLink, path, beside ? file_name_of(library) : library});
      found_.push_back(std::move(changes));
    }
  }

  void add_icd_file(const Opening& opening) {
    if (is_loader(opening.library) || !has_icd_entry(opening)) return;
    found_.push_back({icd_file_for(view_, opening.path)});
  }

  const Personality& personality_;
  const FileSystemView& view_;
  const LinkerSetting& setting_;
  std::vector<Changes> found_;
};

// The file of the source that holds the list of names; empty where `source` names none.
std::string list_file(const Personality& personality) {
  const Words words = split(personality.source, ' ');
  if (words.size() < 2 || !has_path(words[1])) return {};
  return words[1].substr(0, words[1].find(','));
}

constexpr size_t kMostServing = 16;

}  // namespace

Result<std::vector<Personality>> personalities(const std::string& data_dir) {
  CLVET_ASSIGN_OR_RETURN(const DataFile file, data_file(data_dir, "cl/personalities.json"));
  CLVET_ASSIGN_OR_RETURN(const nlohmann::json json, parse_data(file));
  try {
    std::vector<Personality> found;
    for (const auto& row : json.at("personalities")) found.push_back(read_personality(row));
    return found;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", file.name, error.what());
  }
}

Result<Personality> find_personality(const std::string& data_dir, const std::string& name) {
  CLVET_ASSIGN_OR_RETURN(std::vector<Personality> all, personalities(data_dir));
  std::vector<std::string> names;
  for (Personality& row : all) {
    if (lower_case(row.name) == lower_case(name)) return std::move(row);
    names.push_back(row.name);
  }
  const std::vector<std::string> likely = likely_words(name, names);
  if (likely.empty())
    return fail(ErrorCode::kInvalidArgument, "clvet does not know the framework '{}'; it knows: {}",
                name, fmt::join(names, " "));
  return fail(ErrorCode::kInvalidArgument,
              "clvet does not know the framework '{}'; did you mean {}? It knows: {}", name,
              fmt::join(likely, " "), fmt::join(names, " "));
}

const Lookup& lookup_on(const Personality& personality, System system) {
  const auto own = personality.lookups.find(to_string(system));
  return own == personality.lookups.end() ? personality.lookup : own->second;
}

const char* to_string(ReplayEnd end) {
  switch (end) {
    case ReplayEnd::kMissingSymbols:
      return "missing-symbols";
    case ReplayEnd::kNoDevice:
      return "no-device";
    case ReplayEnd::kUsable:
      return "usable";
    default:
      return "no-library";
  }
}

std::optional<std::string> devices_by_files(const FileSystemView& view,
                                            const LinkerSetting& setting,
                                            const Personality& personality,
                                            const Opening& opening) {
  const auto& types = personality.devices.types;
  const bool cpu_is_enough =
      types.empty() || std::find(types.begin(), types.end(), "cpu") != types.end();
  if (!is_loader(opening.library)) {
    if (is_software(opening.path) && !cpu_is_enough)
      return "it is a driver for the CPU, but a GPU is needed";
    return std::nullopt;
  }
  std::string why = "the loader finds no ICD file";
  for (const IcdInView& row : icd_files_of(view, setting, loader_in(view, opening))) {
    if (row.usable && (cpu_is_enough || !row.software)) return std::nullopt;
    why = row.usable
              ? fmt::format("{} is a driver for the CPU, but a GPU is needed", row.file.target)
              : fmt::format("the loader gets no driver from {}: {}", row.file.path, row.reason);
  }
  return why;
}

Replay replay(const Personality& personality, const FileSystemView& view,
              const LinkerSetting& setting, const DeviceTest& devices) {
  Replay out;
  if (const auto library = find_library(personality, view, setting, out)) {
    out.end = ReplayEnd::kUsable;
    out.library = library->path;
    out.missing_symbols = missing_symbols(personality, *library);
    if (!out.missing_symbols.empty()) {
      out.end = ReplayEnd::kMissingSymbols;
      out.reason =
          fmt::format("{} lacks the function {}", library->path, out.missing_symbols.front());
    } else if (const auto why = devices(view, setting, personality, *library)) {
      out.end = ReplayEnd::kNoDevice;
      out.reason = *why;
    }
  }
  finish(lookup_on(personality, setting.system), out);
  return out;
}

std::vector<Opening> serving_libraries(const Personality& personality, const FileSystemView& view,
                                       const LinkerSetting& setting) {
  std::vector<Opening> found;
  for (const std::string& path : scan_libraries(view)) {
    Opening opening = open_library(view, setting, path);
    if (opening.outcome != Opening::Outcome::kOpened) continue;
    if (has_icd_entry(opening) || missing_symbols(personality, opening).empty())
      found.push_back(std::move(opening));
  }
  const auto rank = [](const Opening& row) {
    if (is_software(row.path)) return 3;
    return is_loader(row.library) ? 0 : library_name_of(row.path) ? 1 : 2;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (found.size() > kMostServing) found.resize(kMostServing);
  return found;
}

std::optional<LeastChange> least_change(const Personality& personality, const FileSystemView& view,
                                        const LinkerSetting& setting, const DeviceTest& devices,
                                        const std::vector<Opening>& serving) {
  if (setting.system != System::kLinux) return std::nullopt;
  Proposals proposals(personality, view, setting);
  for (auto& changes : proposals.all(serving)) {
    LinkerSetting changed = setting;
    for (const Change& row : changes) {
      if (row.kind == Change::Kind::kVariable) changed.variables[row.path] = row.value;
    }
    Replay after = replay(personality, ChangedView(view, changes), changed, devices);
    if (after.end == ReplayEnd::kUsable) return LeastChange{std::move(changes), std::move(after)};
  }
  return std::nullopt;
}

std::optional<SourceEdit> source_edit(const Personality& personality, const FileSystemView& view,
                                      const LinkerSetting& setting, const DeviceTest& devices,
                                      const std::vector<Opening>& serving) {
  const std::string file = list_file(personality);
  const bool linked = lookup_on(personality, setting.system).stops_at == "linked";
  if (setting.system != System::kLinux || linked || file.empty()) return std::nullopt;
  for (const Opening& library : serving) {
    Personality built = personality;
    for (auto& [system, names] : built.names) names.insert(names.begin(), library.path);
    Replay after = replay(built, view, setting, devices);
    if (after.end == ReplayEnd::kUsable) return SourceEdit{file, library.path, std::move(after)};
  }
  return std::nullopt;
}

}  // namespace clvet
