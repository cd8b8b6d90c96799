// How a framework looks for OpenCL, replayed over files: what it tries, where it stops, what it
// prints, and the least change that would make it succeed. Pure; nothing is loaded.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"

namespace clvet {

// Which devices a framework takes, beside that there is one.
struct DeviceRule {
  bool first_platform_only = false, images = false;
  std::vector<std::string> types, extensions;     // any of the types, all of the extensions
  std::vector<std::string> names, not_platforms;  // patterns of the whole name
};

// How one system's build of a framework goes about it.
struct Lookup {
  std::string flags;
  std::string stops_at;  // opened, symbol, exists, linked (personalities.json says what they mean)
  std::string symbol;
  std::vector<std::string> variables;
  bool variable_alone = false;  // one that is set leaves no other name to try
  std::map<std::string, std::vector<std::string>> prints;  // by how the lookup ends
};

struct Personality {
  std::string name, title, source;  // source: "URL file, revision"
  Lookup lookup;
  std::map<std::string, Lookup> lookups;                  // by system, where it differs
  std::map<std::string, std::vector<std::string>> names;  // by system, with or without its bits
  std::vector<std::string> needs;
  bool google = false;  // calls enableOpenCL where a library has it
  DeviceRule devices;
};

Result<std::vector<Personality>> personalities(const std::string& data_dir);
// By its name, in any case. kInvalidArgument: no such framework; the message names the likely ones.
Result<Personality> find_personality(const std::string& data_dir, const std::string& name);

const Lookup& lookup_on(const Personality& personality, System system);

enum class ReplayEnd { kNoLibrary, kMissingSymbols, kNoDevice, kUsable };
const char* to_string(ReplayEnd end);

struct ReplayStep {
  std::string name;
  Opening::Outcome outcome = Opening::Outcome::kAbsent;
  std::string path, detail;
};

struct Replay {
  std::vector<ReplayStep> steps;  // in order; the last is where it stopped
  ReplayEnd end = ReplayEnd::kNoLibrary;
  std::string library;  // the file it stopped at; empty where it found none
  std::vector<std::string> missing_symbols;
  std::string reason;  // why it did not succeed
  std::vector<std::string> prints;
};

// Why the framework gets no device through an opened library; nullopt where it gets one.
using DeviceTest = std::function<std::optional<std::string>(
    const FileSystemView&, const LinkerSetting&, const Personality&, const Opening&)>;

// By the files alone: a loader needs an ICD file with a usable library, a vendor's library its own
// entry; a driver for the CPU is no device for a framework that wants a GPU.
std::optional<std::string> devices_by_files(const FileSystemView& view,
                                            const LinkerSetting& setting,
                                            const Personality& personality, const Opening& opening);

Replay replay(const Personality& personality, const FileSystemView& view,
              const LinkerSetting& setting, const DeviceTest& devices);

// Libraries that would serve the framework, by their files: loaders first, those of unknown names
// and then drivers for the CPU last.
std::vector<Opening> serving_libraries(const Personality& personality, const FileSystemView& view,
                                       const LinkerSetting& setting);

struct LeastChange {
  std::vector<Change> changes;
  Replay after;  // of the view with the changes made: it ends usable
};

// The first of these, with a library of `serving`, with which the replay succeeds: an ICD file
// written anew, a variable, a new ICD file, a link, a link in the place of a file that is in the
// way. nullopt where none does, and on Android, where no user may.
std::optional<LeastChange> least_change(const Personality& personality, const FileSystemView& view,
                                        const LinkerSetting& setting, const DeviceTest& devices,
                                        const std::vector<Opening>& serving);

// For who builds the framework: a name at the head of its own list.
struct SourceEdit {
  std::string file, name;  // file: within the framework's source
  Replay after;            // of the framework so built: it ends usable
};

// nullopt where no library would do, where the framework has no list (it is linked), and on
// Android.
std::optional<SourceEdit> source_edit(const Personality& personality, const FileSystemView& view,
                                      const LinkerSetting& setting, const DeviceTest& devices,
                                      const std::vector<Opening>& serving);

}  // namespace clvet
