// Options that several verbs have, each with the same name and meaning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/terminal.h"

namespace clvet {

void add_report(Verb verb, std::string& file);
void add_device(Verb verb, std::string& selector);
// --threads, which wins over the variable.
void add_threads(Verb verb);
void add_strict(Verb verb, bool& strict);
// What keeps a wrong or dying driver from the user.
struct GuardOptions {
  bool isolate = false;
  double hang_after_s = 30;
  double self_check = -1;  // below 0: as often as a fiftieth of the time allows
  std::optional<double> rate() const {
    return self_check < 0 ? std::nullopt : std::optional(self_check);
  }
};
void add_guard(Verb verb, GuardOptions& guard);
void add_isolation(Verb verb, GuardOptions& guard);  // the same without --self-check
void add_libraries(Verb verb, std::vector<std::string>& libraries, int& jobs);
void add_data_dir(Verb verb, std::string& folder);
// --json and --quiet. `document` says what --json writes.
void add_output(Verb verb, OutputOptions& output, const std::string& document);

}  // namespace clvet
