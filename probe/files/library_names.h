// The names under which OpenCL is found, and what a name tells of its library: the table
// probe/data/cl/library_names.json. A new name is a new row there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {

struct LibraryName {
  std::string name;       // as the linker is asked for it
  std::string family;     // mali, powervr, pocl; else empty
  bool loader = false;    // tried before every other
  bool bare = true;       // tried without a folder, and at fault where there is no OpenCL inside
  bool folders = false;   // tried in each of the usual folders
  bool software = false;  // it drives the CPU
  bool variants = false;  // files whose names only begin so are of the row, too
  bool icd_only = false;  // tried only where an ICD file, a variable or an option names it
};

// The rows, in the order in which they are tried. kInternal where the table is malformed.
const Result<std::vector<LibraryName>>& library_names();

// The row of a file, by its name: the row's own up to ".so" and any version behind it, else that of
// a variant; null where there is none.
const LibraryName* library_name_of(std::string_view path);

// A driver for the CPU, by its name.
bool is_software(std::string_view path);
// Its family; empty where the name tells none.
std::string family_of(std::string_view path);

// The files of the rows for folders that a process of that ABI tries, in order, each once.
Result<std::vector<std::string>> known_paths(const std::string& triplet, int bits);

}  // namespace clvet
