#include "probe/files/icd_view.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/library_names.h"
#include "probe/files/library_search.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"

namespace clvet {
namespace {

constexpr const char* kFolder = "/etc/OpenCL/vendors";
constexpr const char* kAndroidFolder = "/system/vendor/Khronos/OpenCL/vendors";

// Left behind by editors, package managers and our own script: nobody takes them for ICD files.
bool is_backup(const std::string& name) {
  return name.ends_with("~") || name.ends_with(".bak") ||
         name.find(".dpkg-") != std::string::npos || name.find(".clvet-") != std::string::npos;
}

std::string default_folder(const LinkerSetting& setting) {
  return setting.system == System::kAndroid ? kAndroidFolder : kFolder;
}

// Where a loader looks: a folder, one file, or libraries that a variable names.
struct Places {
  std::string folder, file, from;
  std::vector<std::string> libraries;
};

Places khronos_places(const LinkerSetting& setting) {
  Places places;
  places.from = "OCL_ICD_FILENAMES";
  places.libraries = split(setting.variable("OCL_ICD_FILENAMES"), ':');
  std::erase(places.libraries, std::string());
  const bool set = setting.variables.count("OCL_ICD_VENDORS") > 0;
  places.folder = set ? setting.variable("OCL_ICD_VENDORS") : default_folder(setting);
  return places;
}

Places ocl_icd_places(const FileSystemView& view, const LinkerSetting& setting) {
  Places places;
  places.from = "OCL_ICD_VENDORS";
  const std::string vendors = setting.variable("OCL_ICD_VENDORS");
  const std::string path = setting.variable("OPENCL_VENDOR_PATH");
  const std::string base = path.empty() ? default_folder(setting) : path;
  const auto real = vendors.empty() ? std::nullopt : resolve(view, vendors);
  const auto entry = real ? view.entry(*real) : std::nullopt;
  if (vendors.empty()) {
    places.folder = base;
  } else if (entry && entry->kind == FileEntry::Kind::kFolder) {
    places.folder = vendors;
  } else if (vendors.ends_with(".icd")) {
    places.file = vendors.find('/') == std::string::npos ? base + "/" + vendors : vendors;
  } else {
    places.libraries = {vendors};
  }
  return places;
}

void judge(const FileSystemView& view, const LinkerSetting& setting, IcdInView& row) {
  if (row.file.target.empty()) {
    row.reason = "it names no library";
    return;
  }
  row.opening = open_library(view, setting, row.file.target);
  row.software = is_software(row.file.target);
  if (row.opening.outcome != Opening::Outcome::kOpened) {
    row.reason = fmt::format("{}: {}{}{}", row.file.target, to_string(row.opening.outcome),
                             row.opening.detail.empty() ? "" : ", ", row.opening.detail);
    if (row.opening.outcome == Opening::Outcome::kAbsent)
      row.file.faults.push_back("names a library that is not found: " + row.file.target);
  } else if (!has_icd_entry(row.opening)) {
    row.reason = row.file.target + " has no clIcdGetPlatformIDsKHR";
  } else {
    row.usable = true;
  }
}

// Faults with which the loader gets no driver from a file, even where its name can be guessed.
bool fatal(const std::string& fault, LoaderKind loader) {
  if (fault.starts_with("has more than one line")) return loader == LoaderKind::kKhronos;
  return fault.starts_with("starts with a byte-order") || fault.starts_with("has CR LF") ||
         fault.starts_with("has blanks") || fault.starts_with("does not end in .icd");
}

IcdInView read(const FileSystemView& view, const LinkerSetting& setting, LoaderKind loader,
               const std::string& path) {
  IcdInView row;
  const auto real = resolve(view, path);
  const auto text =
      real ? view.text(*real, kLargestIcdFile) : fail(ErrorCode::kNotFound, "a link to nothing");
  if (!text) {
    row.file = {path, {}, {text.error().message}};
    row.reason = "it cannot be read";
    return row;
  }
  row.file = parse_icd_file(path, *text);
  if (!path.ends_with(".icd"))
    row.file.faults.emplace_back("does not end in .icd, so no loader reads it");
  const auto entry = view.entry(*real);
  const bool open_to_all = !entry || (entry->mode & 0004) != 0 || (entry->mode & 0777) == 0;
  if (!open_to_all) row.file.faults.emplace_back("is not readable by every user");
  judge(view, setting, row);
  for (const std::string& fault : row.file.faults) {
    if (!row.usable || !fatal(fault, loader)) continue;
    row.usable = false;
    row.reason = "it " + fault;
  }
  return row;
}

IcdInView named(const FileSystemView& view, const LinkerSetting& setting, const std::string& from,
                const std::string& library) {
  IcdInView row;
  row.file = {from, library, {}};
  judge(view, setting, row);
  row.file.faults.clear();  // the variable is judged by itself
  return row;
}

}  // namespace

bool has_icd_entry(const Opening& opening) {
  return opening.symbols.count("clIcdGetPlatformIDsKHR") > 0 ||
         (opening.symbols.count("clGetExtensionFunctionAddress") > 0 &&
          !is_loader(opening.library));
}

std::string usual_icd_file(const std::string& library, const std::string& folder) {
  std::string stem = file_name_of(library);
  stem = stem.substr(0, stem.find(".so"));
  if (stem.starts_with("lib")) stem.erase(0, 3);
  return (folder.empty() ? kFolder : folder) + "/" + stem + ".icd";
}

Change icd_file_for(const FileSystemView& view, const std::string& library) {
  const std::string folder = resolve(view, kFolder).value_or("");
  return {Change::Kind::kFile, usual_icd_file(library, folder), library + "\n"};
}

std::vector<IcdInView> icd_files_of(const FileSystemView& view, const LinkerSetting& setting,
                                    const LoaderInView& loader) {
  constexpr size_t kMost = 64;
  std::vector<IcdInView> found;
  const Places places =
      loader.kind == LoaderKind::kKhronos ? khronos_places(setting) : ocl_icd_places(view, setting);
  for (const std::string& library : places.libraries) {
    if (found.size() < kMost) found.push_back(named(view, setting, places.from, library));
  }
  if (!places.file.empty()) found.push_back(read(view, setting, loader.kind, places.file));
  const auto folder = places.folder.empty() ? std::nullopt : resolve(view, places.folder);
  if (!folder) return found;
  for (const std::string& name : view.names(*folder)) {
    if (is_backup(name)) continue;
    const std::string path = *folder + "/" + name;
    const auto real = resolve(view, path);
    const auto entry = real ? view.entry(*real) : std::nullopt;
    if (entry && entry->kind == FileEntry::Kind::kFolder) continue;
    if (found.size() < kMost) found.push_back(read(view, setting, loader.kind, path));
  }
  return found;
}

}  // namespace clvet
