// What the files of a machine or a tree hold of OpenCL. Loads nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/kernel_view.h"
#include "probe/files/layer_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"

namespace clvet {

// How programs enter OpenCL by a library: all its functions, those for loaders only, Google's two
// functions, or not at all.
enum class OpenClEntry { kFull, kIcd, kGoogle, kNone };
const char* to_string(OpenClEntry entry);  // "full", "icd", "google", "none"

struct LibraryInView {
  std::string path;  // links followed
  Opening opening;
  bool loader = false, software = false;
  OpenClEntry opencl = OpenClEntry::kNone;
  std::string cl;       // the least OpenCL version that its symbols tell; empty where it has none
  std::string release;  // of a Mali driver: g13p0
  std::string build_id;
  bool opened() const { return opening.outcome == Opening::Outcome::kOpened; }
};

struct Survey {
  LinkerSetting setting;
  LoaderInView loader;  // that programs get
  std::vector<VariableInView> variables;
  std::vector<LibraryInView> libraries;
  std::vector<IcdInView> icd_files;
  std::vector<LayerInView> layers;
  KernelInView kernel;
  bool usable = false;  // some library serves programs that look as the loader's do
  bool gpu = false;     // and it is no driver for the CPU
};

// True where a link among the changes is found only once ldconfig has been run.
bool needs_ldconfig(const Survey& survey, const std::vector<Change>& changes);

// `scanned`: what scan_libraries gave of this view, where that is known.
Survey survey_files(const FileSystemView& view, const LinkerSetting& setting,
                    const std::optional<std::vector<std::string>>& scanned = {});

}  // namespace clvet
