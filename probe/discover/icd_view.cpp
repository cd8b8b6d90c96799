#include "probe/discover/icd_view.h"

#include <algorithm>

#include "probe/cl/library_search.h"

namespace clvet {
namespace icds {
namespace {

constexpr const char* kFolder = "/etc/OpenCL/vendors";
constexpr const char* kCpuLibraries[] = {"libpocl.so", "libintelocl.so", "liboclgrind-rt-icd.so"};

// Left behind by editors, package managers and our own script: nobody takes them for ICD files.
bool is_backup(const std::string& name) {
  return name.ends_with("~") || name.ends_with(".bak") ||
         name.find(".dpkg-") != std::string::npos || name.find(".clvet-") != std::string::npos;
}

std::string folder_of(const LinkerSetting& setting) {
  for (const char* name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
    const auto value = setting.variables.find(name);
    if (value != setting.variables.end() && !value->second.empty()) return value->second;
  }
  return kFolder;
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

IcdInView read(const FileSystemView& view, const LinkerSetting& setting, const std::string& path) {
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
  const bool read_at_all = path.ends_with(".icd");
  if (!read_at_all) row.file.faults.emplace_back("does not end in .icd, so no loader reads it");
  const auto entry = view.entry(*real);
  const bool open_to_all = !entry || (entry->mode & 0004) != 0 || (entry->mode & 0777) == 0;
  if (!open_to_all) row.file.faults.emplace_back("is not readable by every user");
  judge(view, setting, row);
  if (!read_at_all) row.usable = false;
  return row;
}

}  // namespace
}  // namespace icds

bool is_loader(const ElfLibrary& library) {
  return std::any_of(library.versions.begin(), library.versions.end(),
                     [](const std::string& name) { return name.starts_with("OPENCL_"); });
}

bool is_software(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return std::any_of(std::begin(icds::kCpuLibraries), std::end(icds::kCpuLibraries),
                     [&](const char* cpu) { return name.starts_with(cpu); });
}

bool has_icd_entry(const Opening& opening) {
  return opening.symbols.count("clIcdGetPlatformIDsKHR") > 0 ||
         (opening.symbols.count("clGetExtensionFunctionAddress") > 0 &&
          !is_loader(opening.library));
}

Change icd_file_for(const FileSystemView& view, const std::string& library) {
  std::string stem = library.substr(library.rfind('/') + 1);
  stem = stem.substr(0, stem.find(".so"));
  if (stem.starts_with("lib")) stem.erase(0, 3);
  return {Change::Kind::kFile,
          resolve(view, icds::kFolder).value_or(icds::kFolder) + "/" + stem + ".icd",
          library + "\n"};
}

std::vector<IcdInView> icd_files_of(const FileSystemView& view, const LinkerSetting& setting) {
  std::vector<IcdInView> found;
  const auto folder = resolve(view, icds::folder_of(setting));
  if (!folder) return found;
  for (const std::string& name : view.names(*folder)) {
    if (icds::is_backup(name)) continue;
    const std::string path = *folder + "/" + name;
    const auto real = resolve(view, path);
    const auto entry = real ? view.entry(*real) : std::nullopt;
    if (entry && entry->kind == FileEntry::Kind::kFolder) continue;
    if (found.size() < 64) found.push_back(icds::read(view, setting, path));
  }
  return found;
}

}  // namespace clvet
