#include "tests/fakes/scenario.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <regex.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fakes/constructs.h"

namespace fake_cl {

using nlohmann::json;

struct Pattern {
  explicit Pattern(const std::string& text) {
    if (regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0) {
      throw std::runtime_error("bad regular expression: " + text);
    }
  }
  bool matches(const std::string& text) const {
    return regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  }
  regex_t compiled;
};

namespace {

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "fake_cl: bad scenario: %s\n", why.c_str());
  _exit(99);
}

void check_keys(const json& object, const std::set<std::string>& known, const char* where) {
  for (const auto& [key, value] : object.items()) {
    if (!known.count(key))
      throw std::runtime_error(std::string("unknown key in ") + where + ": " + key);
  }
}

std::vector<std::string> strings(const json& object, const char* key) {
  if (!object.contains(key)) return {};
  const json& value = object.at(key);
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

std::shared_ptr<Pattern> pattern(const json& object, const char* key) {
  if (!object.contains(key)) return nullptr;
  return std::make_shared<Pattern>(object.at(key).get<std::string>());
}

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

// "$NAME/rest" with the environment variable's value.
std::string expanded(const std::string& path) {
  if (path.empty() || path[0] != '$') return path;
  const size_t end = std::min(path.find('/'), path.size());
  const char* value = std::getenv(path.substr(1, end - 1).c_str());
  return (value ? value : "") + path.substr(end);
}

Rule rule_of(const json& document, size_t index) {
  static const std::set<std::string> kActions = {
      "abort",         "segfault",        "hang",       "exit",       "error",      "build_error",
      "build_log",     "null_success",    "zeros",      "skip",       "wrong_tile", "bit_flip",
      "out_of_bounds", "stdout",          "stderr",     "orphan",     "delay",      "balloon",
      "close_fds",     "signal_handlers", "drop_nan",   "round_half", "stale",      "lost",
      "chdir",         "binary",          "limit_files"};
  check_keys(document, {"match", "do", "comment"}, "rule");
  const json& match = document.at("match");
  check_keys(match,
             {"call", "constructs_all", "constructs_any", "constructs_none", "source_regex",
              "raw_source_regex", "options_regex", "kernel", "count", "file_exists", "held_file",
              "mapped", "from_binary", "after_rule", "live_programs"},
             "match");
  Rule rule;
  rule.index = index;
  rule.calls = strings(match, "call");
  rule.constructs_all = strings(match, "constructs_all");
  rule.constructs_any = strings(match, "constructs_any");
  rule.constructs_none = strings(match, "constructs_none");
  rule.source = pattern(match, "source_regex");
  rule.raw_source = pattern(match, "raw_source_regex");
  rule.options = pattern(match, "options_regex");
  rule.kernel = pattern(match, "kernel");
  if (match.contains("count")) {
    const json& count = match.at("count");
    if (count.is_number()) {
      rule.to = count.get<uint64_t>();
    } else {
      check_keys(count, {"from", "to"}, "count");
      rule.from = count.value("from", uint64_t{1});
      rule.to = count.value("to", UINT64_MAX);
    }
  }
  rule.parameters = document.at("do");
  rule.action = rule.parameters.at("action").get<std::string>();
  rule.file_exists = expanded(match.value("file_exists", ""));
  rule.held_file = expanded(match.value("held_file", ""));
  rule.mapped = strings(match, "mapped");
  rule.from_binary = match.value("from_binary", false);
  rule.after_rule = match.value("after_rule", -1);
  rule.live_programs = match.value("live_programs", uint64_t{0});
  rule.once_file = expanded(rule.parameters.value("once_file", ""));
  rule.once_limit = rule.parameters.value("once_limit", uint64_t{1});
  if (!kActions.count(rule.action)) throw std::runtime_error("unknown action: " + rule.action);
  if (rule.calls.empty()) throw std::runtime_error("a rule without a call");
  return rule;
}

bool contains_all(const std::set<std::string>& have, const std::vector<std::string>& wanted) {
  for (const auto& word : wanted) {
    if (!have.count(word)) return false;
  }
  return true;
}

bool contains_any(const std::set<std::string>& have, const std::vector<std::string>& wanted) {
  for (const auto& word : wanted) {
    if (have.count(word)) return true;
  }
  return false;
}

// True where files of all these names are loaded into the process.
bool all_mapped(const std::vector<std::string>& words) {
  if (words.empty()) return true;
  std::ifstream file("/proc/self/maps");
  const std::string maps((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return maps.find(word) != std::string::npos; });
}

bool names(const Rule& rule, const std::string& call) {
  for (const auto& wanted : rule.calls) {
    if (fnmatch(wanted.c_str(), call.c_str(), 0) == 0) return true;
    const bool enumeration = call == "clGetPlatformIDs" || call == "clIcdGetPlatformIDsKHR";
    if (enumeration && wanted == "enumerate") return true;
  }
  return false;
}

// True where another process holds the file. Else this one holds it from now to its end.
bool held_by_another(const std::string& path) {
  static std::map<std::string, int> held;
  if (held.count(path)) return false;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return true;
  }
  held[path] = fd;
  return false;
}

bool matches(const Rule& rule, const std::string& call, const Subject& subject) {
  if (!names(rule, call)) return false;
  if (!rule.file_exists.empty() && access(rule.file_exists.c_str(), F_OK) != 0) return false;
  if (!rule.held_file.empty() && !held_by_another(rule.held_file)) return false;
  if (!all_mapped(rule.mapped)) return false;
  if (rule.from_binary && !subject.from_binary) return false;
  if (rule.live_programs > subject.live_programs) return false;
  const auto& have = subject.constructs;
  if (!contains_all(have, rule.constructs_all) || contains_any(have, rule.constructs_none))
    return false;
  if (!rule.constructs_any.empty() && !contains_any(have, rule.constructs_any)) return false;
  if (rule.kernel && !rule.kernel->matches(subject.kernel)) return false;
  if (rule.options && !rule.options->matches(subject.options)) return false;
  if (rule.raw_source && !rule.raw_source->matches(subject.raw_source)) return false;
  return !rule.source || (subject.program && rule.source->matches(subject.program->text));
}

// Takes one of the machine-wide firings of a rule, if any is left.
bool take_once(const Rule& rule) {
  if (rule.once_file.empty()) return true;
  const int fd = open(rule.once_file.c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  flock(fd, LOCK_EX);
  struct stat status {};
  fstat(fd, &status);
  const bool left = static_cast<uint64_t>(status.st_size) < rule.once_limit;
  const bool taken = left && write(fd, "x", 1) == 1;
  close(fd);
  return taken;
}

json load() {
  const char* text = std::getenv("FAKE_CL_SCENARIO");
  if (!text || !*text) return json::object();
  if (std::string_view(text).find('{') != std::string_view::npos) return json::parse(text);
  std::ifstream file(text);
  if (!file) throw std::runtime_error(std::string("cannot read ") + text);
  return json::parse(file);
}

}  // namespace

Scenario::Scenario(const json& document) {
  check_keys(document, {"comment", "device", "rules"}, "scenario");
  const json device = document.value("device", json::object());
  check_keys(device,
             {"platform_name", "platform_vendor", "platform_version", "platform_extensions", "name",
              "vendor", "version", "driver_version", "opencl_c_version", "extensions_add",
              "extensions_remove", "raw_name_hex", "info", "broken_twin"},
             "device");
  for (const auto& [key, value] : device.items()) {
    if (value.is_string()) device_.strings[key] = value.get<std::string>();
  }
  if (device.contains("raw_name_hex")) {
    device_.strings["name"] = from_hex(device.at("raw_name_hex").get<std::string>());
  }
  device_.extensions_add = strings(device, "extensions_add");
  device_.extensions_remove = strings(device, "extensions_remove");
  device_.info = device.value("info", json::object());
  device_.broken_twin = device.value("broken_twin", -1);
  for (const auto& rule : document.value("rules", json::array())) {
    rules_.push_back(rule_of(rule, rules_.size()));
  }
}

const Scenario& Scenario::instance() {
  static const Scenario* scenario = [] {
    try {
      return new Scenario(load());
    } catch (const std::exception& error) {
      refuse(error.what());
    }
  }();
  return *scenario;
}

std::vector<const Rule*> Scenario::fire(const std::string& call, const Subject& subject) const {
  static std::mutex mutex;
  std::vector<const Rule*> out;
  std::lock_guard lock(mutex);
  for (const Rule& rule : rules_) {
    const auto after = static_cast<size_t>(rule.after_rule);
    if (rule.after_rule >= 0 && rules_.at(after).matches == 0) continue;
    if (!matches(rule, call, subject)) continue;
    const uint64_t number = ++rule.matches;
    if (number < rule.from || number > rule.to || !take_once(rule)) continue;
    std::ostringstream line;
    line << "pid " << getpid() << " rule " << rule.index << " match " << number << ' '
         << rule.action << " in " << call << " kernel '" << subject.kernel << "' constructs";
    for (const auto& word : subject.constructs) line << ' ' << word;
    log_line(line.str());
    out.push_back(&rule);
  }
  return out;
}

bool Scenario::mentions(const std::string& call) const {
  for (const Rule& rule : rules_) {
    if (names(rule, call)) return true;
  }
  return false;
}

void log_line(const std::string& line) {
  const char* path = std::getenv("FAKE_CL_LOG");
  if (!path) return;
  const int fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  const std::string text = line + "\n";
  if (write(fd, text.data(), text.size()) < 0)
    close(fd);
  else
    close(fd);
}

}  // namespace fake_cl
