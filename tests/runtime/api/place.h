// Where the tests of the public library run their networks: on the host; or, where a report is
// named, on its first device.
#pragma once

#include <cstdlib>
#include <string>

namespace clvet::test {

inline std::string report_of_place() {
  const char* report = std::getenv("CLVET_TEST_REPORT");
  return report ? report : "";
}

// Options is clvet::SessionOptions or clvet::LanguageOptions.
template <class Options>
Options at_place(const std::string& state_dir) {
  Options options;
  options.device = report_of_place().empty() ? "host" : "0";
  if (options.device != "host") {
    options.report = report_of_place();
    options.state_dir = state_dir;
  }
  return options;
}

}  // namespace clvet::test
