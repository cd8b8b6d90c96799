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
// What later starts read in place of one of these (report_snapshot.h).
inline std::string snapshot_file(const std::string& report) { return report + ".snapshot"; }
// What later starts read in place of the last file that --report named.
inline std::string named_snapshot_file(const std::string& state_dir) {
  return state_dir + "/named.snapshot";
}

}  // namespace clvet
