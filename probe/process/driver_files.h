// The files of drivers that this process has mapped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clvet {

// What a process had before it loaded a driver.
struct BeforeDriver {
  std::vector<std::string> mapped;  // files, sorted
  int64_t at_ns = 0;                // wall clock

  static BeforeDriver now();
};

// ELF files that were mapped since, sorted. Left out is what was made since: kernels that a driver
// compiled into a cache.
std::vector<std::string> driver_files(const BeforeDriver& before);

}  // namespace clvet
