#include "probe/files/library_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_files.h"
#include "probe/files/library_names.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

// The variables that tell the loaders of this machine where to look.
LinkerSetting setting_from(const Environment& environment) {
  LinkerSetting setting;
  for (const char* name : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"}) {
    if (const auto value = environment(name)) setting.variables[name] = absolute_place(*value);
  }
  if (const auto value = environment("OCL_ICD_FILENAMES"))
    setting.variables["OCL_ICD_FILENAMES"] = *value;
  return setting;
}

class Search {
 public:
  explicit Search(const Environment& environment) : environment_(environment) {}

  void add(const std::string& name, Origin origin) {
    const auto same = [&](const Candidate& row) { return row.name == name; };
    if (name.empty() || std::any_of(found_.candidates.begin(), found_.candidates.end(), same))
      return;
    found_.candidates.push_back({name, origin});
  }

  void add_names(const std::vector<LibraryName>& names, bool loaders) {
    for (const LibraryName& row : names) {
      if (row.loader == loaders && row.bare && !row.icd_only)
        add(row.name, loaders ? Origin::kLoader : Origin::kKnownName);
    }
  }

  // Whichever loader reads them.
  void add_icd_files(const FileSystemView& view) {
    const LinkerSetting setting = setting_from(environment_);
    const IcdPlaces khronos = icd_places(view, setting, LoaderKind::kKhronos);
    const IcdPlaces places = icd_places(view, setting, LoaderKind::kOclIcd);
    for (const IcdPlaces* row : {&khronos, &places}) {
      for (const std::string& name : row->libraries) add(name, Origin::kIcdFile);
    }
    for (const std::string& path : places.files) {
      if (!path.ends_with(".icd")) continue;
      found_.icd_files.push_back(read_icd_file(view, path));
      add(found_.icd_files.back().target, Origin::kIcdFile);
    }
  }

  // Libraries that programs' own variables name: whoever set them has them for a reason.
  void add_programs_variables() {
    for (const char* name : {"LIBOPENCL_SO_PATH", "LIBOPENCL_SO_PATH_2", "LIBOPENCL_SO_PATH_3",
                             "LIBOPENCL_SO_PATH_4", "OPENCV_OPENCL_RUNTIME"}) {
      const std::string value = environment_(name).value_or("");
      if (value != "disabled") add(value, Origin::kKnownName);
    }
  }

  void add_files(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      std::error_code error;
      if (fs::exists(path, error)) add(path, Origin::kKnownName);
    }
  }

  CandidateList take() { return std::move(found_); }

 private:
  const Environment& environment_;
  CandidateList found_;
};

bool has_path(const std::string& name) { return name.find('/') != std::string::npos; }

}  // namespace

Result<CandidateList> find_candidates(const std::vector<std::string>& libraries,
                                      const Environment& environment) {
  Search search(environment);
  if (!libraries.empty()) {
    for (const std::string& name : libraries) {
      std::error_code error;
      const bool file = has_path(name) || fs::exists(name, error);
      search.add(file ? fs::absolute(name).string() : name, Origin::kOption);
    }
    return search.take();
  }
  CLVET_ASSIGN_OR_RETURN(const std::vector<LibraryName> names, library_names());
  search.add_names(names, true);
  search.add_icd_files(*view_of(""));
  search.add_programs_variables();
  search.add_names(names, false);
  CLVET_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                         known_paths(triplet_of(own_abi()), own_abi().bits));
  search.add_files(paths);
  return search.take();
}

}  // namespace clvet
