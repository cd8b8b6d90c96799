// The scenario: which calls misbehave, and how. Format in README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace fake_cl {

struct ProgramText;

// What a call is about, as far as it is known.
struct Subject {
  const ProgramText* program = nullptr;
  std::set<std::string> constructs;
  std::string raw_source;
  std::string options;
  std::string kernel;
  bool from_binary = false;  // the program was made from one
  uint64_t live_programs = 0;
};

struct Pattern;  // a compiled POSIX extended regular expression

struct Rule {
  size_t index = 0;
  std::vector<std::string> calls;  // file name patterns: "clEnqueueMap*"
  std::vector<std::string> constructs_all, constructs_any, constructs_none;
  std::shared_ptr<Pattern> source, raw_source, options, kernel;
  std::vector<std::string> mapped;     // fires only while files of these names are loaded
  bool from_binary = false;            // fires only for programs that were made from binaries
  std::string file_exists;             // fires only while this file is there
  std::string held_file;               // fires only while another process holds this file
  int after_rule = -1;                 // fires only where this one did before in this process
  uint64_t live_programs = 0;          // fires only while there are so many, that in hand included
  uint64_t from = 1, to = UINT64_MAX;  // which matches fire, counted in this process
  std::string once_file;               // counts across processes, a byte a firing
  uint64_t once_limit = 1;
  std::string action;
  nlohmann::json parameters;
  mutable uint64_t matches = 0;
};

struct DeviceChanges {
  std::map<std::string, std::string> strings;  // platform_name, name, version, ...
  std::vector<std::string> extensions_add, extensions_remove;
  nlohmann::json info;   // CL_DEVICE_... -> number or array
  int broken_twin = -1;  // place of the built-in device's twin, which makes no context
};

class Scenario {
 public:
  // FAKE_CL_SCENARIO, read once. A scenario that cannot be read ends the process with status 99.
  static const Scenario& instance();

  const DeviceChanges& device() const { return device_; }
  // The rules that fire for this call, in order; counts the match.
  std::vector<const Rule*> fire(const std::string& call, const Subject& subject) const;
  // True if some rule could match `call`, so that its subject is worth describing.
  bool mentions(const std::string& call) const;

 private:
  explicit Scenario(const nlohmann::json& document);
  DeviceChanges device_;
  std::vector<Rule> rules_;
};

// Appends one line to FAKE_CL_LOG, if that is set.
void log_line(const std::string& line);

}  // namespace fake_cl
