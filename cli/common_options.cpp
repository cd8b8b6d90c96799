#include "cli/common_options.h"
#include "cli/options.h"
#include "cli/terminal.h"

#include <vector>

#include <string>

namespace clvet {

void add_report(Verb verb, std::string& file) {
  verb.add_option("--report", file, "use this report (default: this machine's)").type_name("FILE");
}

void add_device(Verb verb, std::string& selector) {
  verb.add_option("--device", selector,
                  "auto, host (clvet's own CPU code), the number of a device, PLATFORM:DEVICE\n"
                  "or part of its name")
      .type_name("DEVICE")
      .shows_default();
}

void add_strict(Verb verb, bool& strict) {
  verb.add_flag("--strict", strict, "fail (exit status 1) instead of falling back");
}

void add_isolate(Verb verb, bool& isolate) {
  verb.add_flag("--isolate", isolate,
                "run in a child process; if the driver crashes it, run on the host");
}

void add_libraries(Verb verb, std::vector<std::string>& libraries, int& jobs) {
  verb.add_option("--library", libraries, "try only these OpenCL libraries").type_name("PATH");
  verb.add_option("--jobs", jobs, "how many libraries to try at the same time")
      .within(1, 64)
      .shows_default();
}

void add_data_dir(Verb verb, std::string& folder) {
  verb.add_option("--data-dir", folder,
                  "take rules, known issues and frameworks from this folder, not the built-in ones")
      .type_name("DIR");
}

void add_output(Verb verb, OutputOptions& output, const std::string& document) {
  verb.add_option("--json", output.json, document).type_name("FILE|-");
  verb.add_flag("--quiet", output.quiet, "print only warnings and errors");
}

}  // namespace clvet
