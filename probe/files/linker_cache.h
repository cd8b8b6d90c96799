// The dynamic linker's cache, /etc/ld.so.cache: what ldconfig found, also in folders that no
// configuration names (ldconfig DIR).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clvet {

// The paths in a cache of glibc 2.2 or later, in its order; empty where it is none. Every offset is
// checked; at most 65536 entries are read.
std::vector<std::string> paths_in_linker_cache(std::string_view bytes);

}  // namespace clvet
