#include "probe/files/library_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/files/library_names.h"
#include "probe/files/linker.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendorsFolder = "/etc/OpenCL/vendors";

std::vector<std::string> icd_files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".icd") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Search {
 public:
  explicit Search(const Environment& environment) : environment_(environment) {}

  void add(const std::string& name, const std::string& origin, const std::string& why) {
    const auto same = [&](const Candidate& row) { return row.name == name; };
    if (name.empty() || std::any_of(found_.candidates.begin(), found_.candidates.end(), same))
      return;
    found_.candidates.push_back({name, origin, why});
  }

  void add_names(const std::vector<LibraryName>& names, bool loaders) {
    for (const LibraryName& row : names) {
      if (row.loader == loaders && row.bare && !row.icd_only)
        add(row.name, loaders ? "loader" : "known-name", row.why);
    }
  }

  void add_icd_file(const std::string& path) {
    found_.icd_files.push_back(read_icd_file(path));
    add(found_.icd_files.back().target, "icd-file", "named by " + path);
  }

  void add_icd_files() {
    for (const std::string& name : split(environment_("OCL_ICD_FILENAMES").value_or(""), ':')) {
      add(name, "icd-file", "named by OCL_ICD_FILENAMES");
    }
    std::string place = kVendorsFolder;
    for (const char* variable : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"}) {
      if (const auto value = environment_(variable); value && !value->empty()) place = *value;
    }
    std::error_code error;
    if (fs::is_directory(place, error)) {
      for (const std::string& file : icd_files_in(place)) add_icd_file(file);
    } else if (place.ends_with(".icd")) {
      add_icd_file(place.find('/') == std::string::npos
                       ? fmt::format("{}/{}", kVendorsFolder, place)
                       : place);
    } else if (place != kVendorsFolder) {
      add(place, "icd-file", "named by OCL_ICD_VENDORS");
    }
  }

  // Libraries that programs' own variables name: whoever set them has them for a reason.
  void add_programs_variables() {
    for (const char* name : {"LIBOPENCL_SO_PATH", "LIBOPENCL_SO_PATH_2", "LIBOPENCL_SO_PATH_3",
                             "LIBOPENCL_SO_PATH_4", "OPENCV_OPENCL_RUNTIME"}) {
      const std::string value = environment_(name).value_or("");
      if (value != "disabled") add(value, "known-name", std::string("named by ") + name);
    }
  }

  void add_files(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      std::error_code error;
      if (fs::exists(path, error)) add(path, "known-name", "a file of a known name");
    }
  }

  CandidateList take() { return std::move(found_); }

 private:
  const Environment& environment_;
  CandidateList found_;
};

bool has_path(const std::string& name) { return name.find('/') != std::string::npos; }

}  // namespace

IcdFileReport parse_icd_file(const std::string& path, std::string_view body) {
  IcdFileReport report{path, {}, {}};
  if (body.starts_with("\xEF\xBB\xBF")) {
    report.faults.emplace_back("starts with a byte-order mark");
    body.remove_prefix(3);
  }
  const std::string_view first = body.substr(0, body.find('\n'));
  if (trim(first).empty()) report.faults.emplace_back("names no library");
  if (first.ends_with('\r'))
    report.faults.emplace_back("has CR LF line ends");
  else if (trim(first).size() != first.size())
    report.faults.emplace_back("has blanks around the name");
  if (const auto end = body.find('\n');
      end != std::string_view::npos && !trim(body.substr(end)).empty()) {
    report.faults.emplace_back(
        "has more than one line; the Khronos loader takes all of it as the name");
  }
  report.target = clean_utf8(trim(first));
  return report;
}

IcdFileReport read_icd_file(const std::string& path) {
  const auto text = read_file(path, kLargestIcdFile);
  if (!text) return {path, {}, {text.error().message}};
  IcdFileReport report = parse_icd_file(path, *text);
  std::error_code error;
  if (has_path(report.target) && !fs::exists(report.target, error)) {
    report.faults.push_back("names a file that does not exist: " + report.target);
  }
  return report;
}

Result<CandidateList> find_candidates(const std::vector<std::string>& libraries,
                                      const Environment& environment) {
  Search search(environment);
  if (!libraries.empty()) {
    for (const std::string& name : libraries) {
      std::error_code error;
      const bool file = has_path(name) || fs::exists(name, error);
      search.add(file ? fs::absolute(name).string() : name, "option", "named by --library");
    }
    return search.take();
  }
  CLVET_ASSIGN_OR_RETURN(const std::vector<LibraryName> names, library_names());
  search.add_names(names, true);
  search.add_icd_files();
  search.add_programs_variables();
  search.add_names(names, false);
  CLVET_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                         known_paths(triplet_of(own_abi()), own_abi().bits));
  search.add_files(paths);
  return search.take();
}

}  // namespace clvet
