#include "probe/files/survey.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/kernel_view.h"
#include "probe/files/layer_view.h"
#include "probe/files/library_names.h"
#include "probe/files/library_scan.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"

namespace clvet {
namespace {

constexpr size_t kLargestDriver = 128 << 20;
constexpr size_t kMostOfDrivers = size_t{1} << 30;  // looked through, of all together

struct VersionSymbol {
  const char *symbol, *version;
};
constexpr VersionSymbol kVersions[] = {{"clCreateBufferWithProperties", "3.0"},
                                       {"clSetProgramReleaseCallback", "2.2"},
                                       {"clCloneKernel", "2.1"},
                                       {"clCreatePipe", "2.0"},
                                       {"clCreateImage", "1.2"},
                                       {"clGetPlatformIDs", "1.0"}};

OpenClEntry entry_of(const Opening& opening) {
  const auto has = [&](const char* symbol) { return opening.symbols.count(symbol) > 0; };
  if (has("clGetPlatformIDs") && has("clCreateContext")) return OpenClEntry::kFull;
  if (has("clIcdGetPlatformIDsKHR") || has("clGetExtensionFunctionAddress"))
    return OpenClEntry::kIcd;
  return has("enableOpenCL") && has("loadOpenCLPointer") ? OpenClEntry::kGoogle
                                                         : OpenClEntry::kNone;
}

// As the driver says it when it is loaded; else the first that its file holds.
std::string release_of_driver(std::string_view bytes) {
  const size_t said = bytes.find("arm_release_ver of this libmali is");
  const std::string release =
      said == std::string_view::npos ? std::string() : mali_release_in(bytes.substr(said, 200));
  return release.empty() ? mali_release_in(bytes) : release;
}

LibraryInView look_at(const FileSystemView& view, const LinkerSetting& setting,
                      const std::string& path, size_t& bytes_left) {
  LibraryInView row;
  row.path = path;
  // By its bare name on Android, as an app would.
  row.opening =
      open_library(view, setting, setting.system == System::kAndroid ? file_name_of(path) : path);
  if (row.opening.outcome == Opening::Outcome::kAbsent)
    row.opening = open_library(view, setting, path);
  row.loader = is_loader(row.opening.library);
  row.software = is_software(path);
  row.build_id = view.build_id(path);
  row.opencl = entry_of(row.opening);
  for (const VersionSymbol& version : kVersions) {
    if (row.cl.empty() && row.opening.symbols.count(version.symbol)) row.cl = version.version;
  }
  if (family_of(path) == "mali") {
    if (const auto bytes = view.text(path, std::min(kLargestDriver, bytes_left))) {
      bytes_left -= bytes->size();
      row.release = release_of_driver(*bytes);
    }
  }
  return row;
}

}  // namespace

const char* to_string(OpenClEntry entry) {
  constexpr const char* kWords[] = {"full", "icd", "google", "none"};
  return kWords[static_cast<size_t>(entry)];
}

bool needs_ldconfig(const Survey& survey, const std::vector<Change>& changes) {
  const std::set<std::string> cached = cache_folders(survey.setting);
  return std::any_of(changes.begin(), changes.end(), [&](const Change& row) {
    return row.kind == Change::Kind::kLink && cached.count(folder_of(row.path)) > 0;
  });
}

Survey survey_files(const FileSystemView& view, const LinkerSetting& setting,
                    const std::optional<std::vector<std::string>>& scanned) {
  Survey survey;
  survey.setting = setting;
  survey.loader = loader_in_use(view, setting);
  survey.variables = variables_in(view, setting, survey.loader);
  survey.icd_files = icd_files_of(view, setting, survey.loader);
  survey.layers = layers_of(view, setting, survey.loader);
  std::vector<std::string> paths = scanned ? *scanned : scan_libraries(view);
  for (const IcdInView& row : survey.icd_files) {
    const std::string& path = row.opening.path;
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(path);
  }
  size_t bytes_left = kMostOfDrivers;
  for (const std::string& path : paths)
    survey.libraries.push_back(look_at(view, setting, path, bytes_left));
  survey.kernel = kernel_in(view);
  add_kernel_logs(view, survey.kernel);
  for (const LibraryInView& row : survey.libraries) {
    const bool serves = row.opened() && !row.loader && row.opencl != OpenClEntry::kNone;
    survey.usable |= serves;
    survey.gpu |= serves && !row.software;
  }
  return survey;
}

}  // namespace clvet
