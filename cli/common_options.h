// Options that several verbs have, each with the same name and meaning.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/terminal.h"

namespace clvet {

void add_report(Verb verb, std::string& file);
void add_device(Verb verb, std::string& selector);
void add_strict(Verb verb, bool& strict);
void add_isolate(Verb verb, bool& isolate);
void add_libraries(Verb verb, std::vector<std::string>& libraries, int& jobs);
void add_data_dir(Verb verb, std::string& folder);
// --json and --quiet. `document` says what --json writes.
void add_output(Verb verb, OutputOptions& output, const std::string& document);

}  // namespace clvet
