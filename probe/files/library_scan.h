// Libraries that hold OpenCL, wherever in a view they lie. Nothing is loaded.
#pragma once

#include <string>
#include <vector>

#include "probe/files/file_view.h"

namespace clvet {

// Libraries of a known name (library_names.h), whatever is in them, and those of any other name
// that end in .so, or .so with a version, and export OpenCL (holds_opencl); of any ABI. The usual
// folders, what lies below them and /opt, and the linker's cache are looked through. Each file is
// given once, sorted, links followed.
//
// Bounded: 8 levels, about 50000 entries, of which a folder counts at most 8192; as many libraries
// of other names of one folder are looked into, and 16384 of all; 128 are given, 64 of them of
// other names. The upper levels come first.
std::vector<std::string> scan_libraries(const FileSystemView& view);

}  // namespace clvet
