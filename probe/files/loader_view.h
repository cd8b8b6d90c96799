// Which loader programs get by the name libOpenCL.so.1, and what the variables that are set do to
// it: the two common loaders read different ones, and some of one name differently. From the files
// alone; nothing is loaded.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/elf_library.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/report/report.h"

namespace clvet {

struct LoaderInView {
  LoaderKind kind = LoaderKind::kNone;
  std::string path;
  std::set<std::string> reads;  // variables of the table whose names its file holds
  std::string version;  // of the one of the two common loaders; empty where its file does not say
};

// One of the two common loaders: both define versions of their symbols, vendors' libraries do not.
bool is_loader(const ElfLibrary& library);
LoaderInView loader_in(const FileSystemView& view, const Opening& opening);
// The one that programs linked with -lOpenCL get, else that of libOpenCL.so.
LoaderInView loader_in_use(const FileSystemView& view, const LinkerSetting& setting);

struct VariableInView {
  std::string name, value;
  // honoured, ignored (the loader in use does not read it), behind (another variable wins),
  // useless (it names nothing that its reader takes)
  std::string state;
  std::string takes;   // what its reader takes: "folder", "folder, .icd file, library", ...
  std::string reader;  // the loader in use, or the programs that read it
  std::string other;   // behind: the variable that wins
};
// Those of the known variables that are set, in a fixed order; a loader's only where it is one of
// the two common ones, or a driver in its place.
std::vector<VariableInView> variables_in(const FileSystemView& view, const LinkerSetting& setting,
                                         const LoaderInView& loader);
// The names of all that are known, for reading them from an environment.
std::vector<std::string> known_variables();
// A folder, or a path, that this process would find from where it runs, as a whole path; other
// values as they are.
std::string absolute_place(const std::string& value);
// Those that this process has, folders of LD_LIBRARY_PATH and of ICD files as whole paths.
std::map<std::string, std::string> own_variables();
// What a tree's /etc/environment sets of them; LD_LIBRARY_PATH is left out, since logins drop it.
std::map<std::string, std::string> variables_of_tree(const FileSystemView& view);

}  // namespace clvet
