// The control groups that limit this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clvet {

struct ControlGroup {
  int version;         // 1 or 2, which name their files differently
  std::string folder;  // which need not exist
};

// The process's group of `controller` ("cpu", "memory") and those above it, wherever hierarchies of
// either version are mounted. A container may see its own group as the top of the hierarchy and yet
// be told another name of it. `root`: the folder that holds proc and sys.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root);

}  // namespace clvet
