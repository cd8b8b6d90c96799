#include "probe/files/icd_files.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr size_t kMostFiles = 256;
constexpr const char* kAndroidFolder = "/system/vendor/Khronos/OpenCL/vendors";

// Left behind by editors, package managers and our own script: nobody takes them for ICD files.
bool is_backup(const std::string& name) {
  return name.ends_with("~") || name.ends_with(".bak") ||
         name.find(".dpkg-") != std::string::npos || name.find(".clvet-") != std::string::npos;
}

std::string default_folder(const LinkerSetting& setting) {
  return setting.system == System::kAndroid ? kAndroidFolder : kIcdFolder;
}

// What the variables tell: a folder, one file or libraries.
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

std::vector<std::string> files_in(const FileSystemView& view, const std::string& named) {
  std::vector<std::string> files;
  const auto folder = named.empty() ? std::nullopt : resolve(view, named);
  if (!folder) return files;
  for (const std::string& name : view.names(*folder)) {
    if (is_backup(name) || files.size() == kMostFiles) continue;
    const std::string path = *folder + "/" + name;
    const auto real = resolve(view, path);
    const auto entry = real ? view.entry(*real) : std::nullopt;
    if (!entry || entry->kind != FileEntry::Kind::kFolder) files.push_back(path);
  }
  return files;
}

}  // namespace

IcdFileReport parse_icd_file(const std::string& path, std::string_view body) {
  IcdFileReport report{path, {}, {}};
  if (body.starts_with("\xEF\xBB\xBF")) {
    report.faults.push_back({IcdFaultKind::kByteOrderMark, "starts with a byte-order mark"});
    body.remove_prefix(3);
  }
  const std::string_view first = body.substr(0, body.find('\n'));
  if (trim(first).empty()) report.faults.push_back({IcdFaultKind::kNoName, "names no library"});
  if (first.ends_with('\r'))
    report.faults.push_back({IcdFaultKind::kCrLf, "has CR LF line ends"});
  else if (trim(first).size() != first.size())
    report.faults.push_back({IcdFaultKind::kBlanks, "has blanks around the name"});
  if (const auto end = body.find('\n');
      end != std::string_view::npos && !trim(body.substr(end)).empty()) {
    report.faults.push_back(
        {IcdFaultKind::kManyLines,
         "has more than one line; the Khronos loader takes the whole file as the name"});
  }
  report.target = clean_utf8(trim(first));
  return report;
}

IcdFileReport read_icd_file(const FileSystemView& view, const std::string& path) {
  const auto real = resolve(view, path);
  const auto text =
      real ? view.text(*real, kLargestIcdFile)
           : fail(ErrorCode::kNotFound, "{} is a link to a file that does not exist", path);
  if (!text) return {path, {}, {{IcdFaultKind::kUnreadable, text.error().message}}};
  IcdFileReport report = parse_icd_file(path, *text);
  if (!path.ends_with(".icd"))
    report.faults.push_back(
        {IcdFaultKind::kEnding, "has a name that does not end in .icd, so no loader reads it"});
  const auto entry = view.entry(*real);
  const bool open_to_all = !entry || (entry->mode & 0004) != 0 || (entry->mode & 0777) == 0;
  if (!open_to_all)
    report.faults.push_back({IcdFaultKind::kPrivate, "is not readable by every user"});
  if (report.target.starts_with('/') && !exists(view, report.target))
    report.faults.push_back(
        {IcdFaultKind::kAbsentLibrary,
         fmt::format("names a library that does not exist: {}", report.target)});
  return report;
}

IcdPlaces icd_places(const FileSystemView& view, const LinkerSetting& setting, LoaderKind loader) {
  Places places =
      loader == LoaderKind::kKhronos ? khronos_places(setting) : ocl_icd_places(view, setting);
  IcdPlaces found{std::move(places.libraries), std::move(places.from), {}};
  found.files = places.file.empty() ? files_in(view, places.folder)
                                    : std::vector<std::string>{std::move(places.file)};
  return found;
}

}  // namespace clvet
