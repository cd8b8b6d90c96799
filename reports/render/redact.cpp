#include "reports/render/redact.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr size_t kLongestText = 4000;
constexpr const char* kGone = "(removed)";

// Folders that packages and images own: what lies there names nobody.
constexpr const char* kPublic[] = {"/usr/", "/lib/", "/lib64/", "/etc/", "/system/", "/vendor/",
                                   "/odm/", "/dev/", "/proc/",  "/sys/", "/bin/",    "/product/"};
constexpr const char* kHomes[] = {"/home/",        "/Users/",     "/var/home/",
                                  "/export/home/", "/run/user/",  "/media/",
                                  "/storage/",     "/data/user/", "/users/"};
// Names that many machines share.
constexpr const char* kCommon[] = {"root",  "user",   "users",   "admin",   "linux",   "localhost",
                                   "local", "shell",  "android", "mali",    "gpu",     "cpu",
                                   "lib",   "debian", "ubuntu",  "opencl",  "armbian", "arm",
                                   "board", "test",   "none",    "default", "system",  "host"};

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80); }

bool path_character(char c) {
  return static_cast<unsigned char>(c) > ' ' &&
         std::string_view("\"'`:;,()<>|=").find(c) == std::string_view::npos;
}

bool starts_path(const std::string& text, size_t at) {
  const bool root = text[at] == '/' && at + 1 < text.size() && path_character(text[at + 1]);
  return root && (at == 0 || !path_character(text[at - 1]));
}

bool is_public(const std::string& path) {
  return path.find("/../") == std::string::npos &&
         std::any_of(std::begin(kPublic), std::end(kPublic),
                     [&](const char* top) { return path.starts_with(top); });
}

// A home itself: even its last name tells.
bool is_home(const std::string& path) {
  return std::any_of(std::begin(kHomes), std::end(kHomes), [&](std::string_view top) {
    return path.starts_with(top) && path.find('/', top.size()) == std::string::npos;
  });
}

// What a stranger may see of a path.
std::string shown(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (is_public(path) || slash == std::string::npos) return path;
  return is_home(path) ? "..." : "..." + path.substr(slash);
}

std::string without_paths(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!starts_path(text, at) && text[at] != '~') {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && path_character(text[end])) ++end;
    const std::string path = text.substr(at, std::max<size_t>(end - at, 1));
    at += path.size();
    out += shown(path);
  }
  return out;
}

// Where it stands as a whole, and does not go on.
std::string without_path(const std::string& text, const std::string& path) {
  std::string out;
  size_t at = 0;
  for (size_t found = text.find(path); found != std::string::npos; found = text.find(path, at)) {
    const size_t end = found + path.size();
    const bool whole = end == text.size() || !path_character(text[end]);
    out += text.substr(at, found - at) + (whole ? shown(path) : path);
    at = end;
  }
  return out + text.substr(at);
}

std::string without_numbers(const std::string& text) {
  static const Pattern patterns[] = {
      Pattern(R"([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,64})"),
      Pattern(R"(\b([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b)"),
      Pattern(R"(\b[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b)"),
      Pattern(R"(\b([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b)"),
      Pattern(R"(\b([0-9]{1,3}\.){3}[0-9]{1,3}:[0-9]{1,5}\b)"),
      // Without a port those of local networks alone: a driver's version may have four numbers.
      Pattern(R"(\b((10|127)\.[0-9]{1,3}|169\.254|192\.168|172\.(1[6-9]|2[0-9]|3[01])))"
              R"((\.[0-9]{1,3}){2}\b)")};
  static const Pattern serial(
      R"(\b(serial(?:[ _-]?(?:number|no\.?|nr\.?))?|s/n|sn(?=[:=#])|imei)([ :=#]{1,3})[\w./-]{1,64})",
      Pattern::Case::kAny);
  std::string out = text;
  for (const Pattern& pattern : patterns) out = pattern.replace_in(out, kGone);
  return serial.replace_in(out, std::string("$1$2") + kGone);
}

std::string without_word(const std::string& text, const std::string& word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  std::string out;
  auto at = text.begin();
  while (at != text.end()) {
    const auto found = std::search(at, text.end(), word.begin(), word.end(), same);
    out.append(at, found);
    if (found == text.end()) break;
    const auto end = found + static_cast<std::ptrdiff_t>(word.size());
    const bool whole = (found == text.begin() || !word_character(found[-1])) &&
                       (end == text.end() || !word_character(*end));
    if (whole)
      out += kGone;
    else
      out.append(found, end);
    at = end;
  }
  return out;
}

bool too_common(const std::string& word) {
  return word.size() < 3 || word.size() > 64 ||
         std::any_of(std::begin(kCommon), std::end(kCommon), [&](const char* common) {
           return word.size() == std::string_view(common).size() &&
                  contains_ignoring_case(word, common);
         });
}

void add_names(const std::string& text, std::vector<std::string>& names) {
  for (const char* top : kHomes) {
    const std::string_view prefix = top;
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
      size_t end = at + prefix.size();
      while (end < text.size() && text[end] != '/' && path_character(text[end])) ++end;
      names.push_back(text.substr(at + prefix.size(), end - at - prefix.size()));
    }
  }
}

}  // namespace

Redactor::Redactor(std::vector<std::string> words, std::vector<std::string> paths)
    : words_(std::move(words)), paths_(std::move(paths)) {
  std::erase_if(paths_, [](const std::string& path) {
    return !path.starts_with('/') || path.size() < 2 || is_public(path);
  });
  std::erase_if(words_, too_common);
  for (std::vector<std::string>* list : {&words_, &paths_}) {
    std::sort(list->begin(), list->end(), [](const auto& a, const auto& b) {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    });
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

std::string Redactor::operator()(const std::string& text) const {
  std::string out = one_line(text, kLongestText);
  for (const std::string& path : paths_) out = without_path(out, one_line(path, kLongestText));
  out = without_numbers(without_paths(out));
  for (const std::string& word : words_) out = without_word(out, word);
  return out;
}

std::vector<std::string> paths_in(const Report& report) {
  std::vector<std::string> paths = {report.loader.path};
  const auto add_list = [&](const auto& variables) {
    for (const auto& [name, value] : variables) {
      for (std::string& path : split(value, ':')) paths.push_back(std::move(path));
    }
  };
  add_list(report.host.env);
  for (const CandidateReport& row : report.candidates) {
    paths.push_back(row.name);
    paths.push_back(row.path);
  }
  for (const IcdFileReport& row : report.icd_files) {
    paths.push_back(row.path);
    paths.push_back(row.target);
  }
  for (const DeviceReport& row : report.devices) {
    paths.push_back(row.library);
    add_list(row.variables);
  }
  return paths;
}

std::vector<std::string> names_in_paths(const Report& report) {
  std::vector<std::string> names;
  for (const std::string& path : paths_in(report)) add_names(path, names);
  for (const CandidateReport& row : report.candidates) add_names(row.reason, names);
  return names;
}

}  // namespace clvet
