// The files mapped into this process, by /proc/self/maps.
#pragma once

#include <string>
#include <vector>

namespace clvet {

// Sorted, unique, regular files that still exist; memfds, devices and deleted files left out.
std::vector<std::string> mapped_files();

}  // namespace clvet
