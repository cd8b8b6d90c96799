// Where this machine's own reports lie.
#pragma once

#include <string>

namespace clvet {

// What 'clvet probe' keeps in the state folder.
inline std::string report_file(const std::string& state_dir) { return state_dir + "/report.json"; }
// What was tried for a language model alone, where there was no other report.
inline std::string report_of_needs_file(const std::string& state_dir) {
  return state_dir + "/report-of-needs.json";
}

}  // namespace clvet
