// Where loaders look for ICD files, and what is in one. The search of this machine and the look
// into trees both ask here. Nothing is loaded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/report/report.h"

namespace clvet {

// Where loaders look on Linux.
inline constexpr const char* kIcdFolder = "/etc/OpenCL/vendors";
inline constexpr size_t kLargestIcdFile = 1 << 16;

// The text of an .icd file: its target, and the faults that show in the text alone.
IcdFileReport parse_icd_file(const std::string& path, std::string_view text);

// One ICD file: its target, and every fault of the file itself that one of the common loaders
// stumbles over, that of a path which leads nowhere among them.
IcdFileReport read_icd_file(const FileSystemView& view, const std::string& path);

struct IcdPlaces {
  std::vector<std::string> libraries;  // that a variable names themselves
  std::string variable;                // that one
  // The file that a variable names, or those of the folder, by name: without backups and folders,
  // and with those that no loader reads, for their names do not end in .icd. At most 256.
  std::vector<std::string> files;
};

// A loader of another kind is taken for ocl-icd, which takes more. Variables that are set to
// nothing count as not set, but for the Khronos loader's folder: that is then none.
IcdPlaces icd_places(const FileSystemView& view, const LinkerSetting& setting, LoaderKind loader);

}  // namespace clvet
