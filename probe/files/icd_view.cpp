#include "probe/files/icd_view.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_files.h"
#include "probe/files/library_names.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

void judge(const FileSystemView& view, const LinkerSetting& setting, IcdInView& row) {
  if (row.file.target.empty()) {
    row.reason = "the file names no library";
    return;
  }
  row.opening = open_library(view, setting, row.file.target);
  row.software = is_software(row.file.target);
  if (row.opening.outcome != Opening::Outcome::kOpened) {
    row.reason = fmt::format("{}: {}{}{}", row.file.target, to_string(row.opening.outcome),
                             row.opening.detail.empty() ? "" : ": ", row.opening.detail);
    if (!row.file.target.starts_with('/') && row.opening.outcome == Opening::Outcome::kAbsent)
      row.file.faults.push_back(
          {IcdFaultKind::kAbsentLibrary,
           fmt::format("names a library that is not found: {}", row.file.target)});
  } else if (!has_icd_entry(row.opening)) {
    row.without_entry = true;
    row.reason = fmt::format("{} does not export clIcdGetPlatformIDsKHR, which loaders need",
                             row.file.target);
  } else {
    row.usable = true;
  }
}

// Faults with which the loader gets no driver from a file, even where its name can be guessed.
bool fatal(IcdFaultKind fault, LoaderKind loader) {
  if (fault == IcdFaultKind::kManyLines) return loader == LoaderKind::kKhronos;
  return fault == IcdFaultKind::kByteOrderMark || fault == IcdFaultKind::kCrLf ||
         fault == IcdFaultKind::kBlanks || fault == IcdFaultKind::kEnding;
}

IcdInView read(const FileSystemView& view, const LinkerSetting& setting, LoaderKind loader,
               const std::string& path) {
  IcdInView row;
  row.file = read_icd_file(view, path);
  judge(view, setting, row);
  for (const IcdFault& fault : row.file.faults) {
    if (!row.usable || !fatal(fault.kind, loader)) continue;
    row.usable = false;
    row.reason = fmt::format("the file {}", fault.text);
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
  return (folder.empty() ? kIcdFolder : folder) + "/" + stem + ".icd";
}

Change icd_file_for(const FileSystemView& view, const std::string& library) {
  const std::string folder = resolve(view, kIcdFolder).value_or("");
  return {Change::Kind::kFile, usual_icd_file(library, folder), library + "\n"};
}

std::vector<IcdInView> icd_files_of(const FileSystemView& view, const LinkerSetting& setting,
                                    const LoaderInView& loader) {
  constexpr size_t kMost = 64;
  std::vector<IcdInView> found;
  const IcdPlaces places = icd_places(view, setting, loader.kind);
  for (const std::string& library : places.libraries) {
    if (found.size() < kMost) found.push_back(named(view, setting, places.variable, library));
  }
  for (const std::string& path : places.files) {
    if (found.size() < kMost) found.push_back(read(view, setting, loader.kind, path));
  }
  return found;
}

}  // namespace clvet
