#include "probe/process/driver_files.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "probe/process/mapped_files.h"

namespace clvet {
namespace {

bool made_since(const std::string& path, int64_t at_ns) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 || nanoseconds(info.st_ctim) >= at_ns;
}

bool is_elf(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file) return false;
  char magic[4] = {};
  const bool elf = std::fread(magic, 1, 4, file) == 4 && std::equal(magic, magic + 4, "\177ELF");
  std::fclose(file);
  return elf;
}

}  // namespace

BeforeDriver BeforeDriver::now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return {mapped_files(), nanoseconds(time)};
}

std::vector<std::string> driver_files(const BeforeDriver& before) {
  std::vector<std::string> files = mapped_files();
  std::erase_if(files, [&](const std::string& path) {
    return std::binary_search(before.mapped.begin(), before.mapped.end(), path) ||
           made_since(path, before.at_ns) || !is_elf(path);
  });
  return files;
}

}  // namespace clvet
