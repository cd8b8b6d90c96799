#include "cli/common_options.h"
#include "cli/options.h"
#include "cli/terminal.h"

#include <vector>

#include <string>

#include "base/processors.h"
#include "base/result.h"

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

void add_threads(Verb verb) {
  const auto take = [](const std::string& text) -> Status {
    CLVET_ASSIGN_OR_RETURN(const int count, parse_threads(text));
    set_threads(count);
    return {};
  };
  verb.add_option("--threads", take,
                  "threads that compute on the host; 0: as many as this process may use (default:\n"
                  "CLVET_THREADS, else 0)")
      .type_name("N");
}

void add_strict(Verb verb, bool& strict) {
  verb.add_flag("--strict", strict, "fail (exit status 1) instead of falling back");
}

void add_isolation(Verb verb, GuardOptions& guard) {
  verb.add_flag("--isolate", guard.isolate,
                "run in a child process; if the driver crashes or hangs there, go on without what\n"
                "it had in hand, on the host in the end");
  verb.add_option("--hang-after", guard.hang_after_s,
                  "with --isolate: seconds that the driver may take, beyond ten times the longest\n"
                  "inference so far")
      .seconds()
      .shows_default();
}

void add_guard(Verb verb, GuardOptions& guard) {
  add_isolation(verb, guard);
  verb.add_option("--self-check", guard.self_check,
                  "the part of the results that the host computes as well, to compare: 1 is all;\n"
                  "default: as many as take 2 % of the time (the first one always)")
      .within(0, 1)
      .type_name("RATE");
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
