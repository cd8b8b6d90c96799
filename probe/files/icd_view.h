// The ICD files of a view and what a loader would make of them. Nothing is loaded.
#pragma once

#include <string>
#include <vector>

#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/report/report.h"

namespace clvet {

struct IcdInView {
  IcdFileReport file;
  Opening opening;             // of its target
  bool usable = false;         // its library opens and has a loader's entry points
  bool software = false;       // it runs on the CPU, by its name
  bool without_entry = false;  // its library opens, and exports nothing that loaders ask for
  std::string reason;          // why it is not usable
};

// What the loader reads: the ICD files of its folder, and libraries and files that variables name
// (then `file.path` is the variable). A loader of another kind is taken for ocl-icd, which takes
// more. Files that end otherwise than in .icd are told with a fault, since no loader reads them.
std::vector<IcdInView> icd_files_of(const FileSystemView& view, const LinkerSetting& setting,
                                    const LoaderInView& loader);

// True where a loader could enter the library: it exports what loaders ask for.
bool has_icd_entry(const Opening& opening);

// The ICD file that would name a driver, in the usual folder or another.
std::string usual_icd_file(const std::string& library, const std::string& folder = {});
// The file that would make loaders find the library.
Change icd_file_for(const FileSystemView& view, const std::string& library);

}  // namespace clvet
