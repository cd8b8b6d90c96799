#include "probe/process/mapped_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace clvet {

std::vector<std::string> mapped_files() {
  std::vector<std::string> paths;
  const auto text = read_file("/proc/self/maps", 64u << 20);
  if (!text) return paths;
  for (const std::string& line : split(*text, '\n')) {
    const auto slash = line.find('/');
    if (slash == std::string::npos || line.find(" (deleted)") != std::string::npos) continue;
    const std::string path = line.substr(slash);
    struct stat info {};
    if (path.rfind("/memfd:", 0) == 0 || path.rfind("/dev/", 0) == 0) continue;
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace clvet
