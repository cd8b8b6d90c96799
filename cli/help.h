// The program as CLI11 has it, with help and usage errors in the user's language.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace clvet {

// Sets the language of this process: --lang, wherever it stands on the command line, else the
// locale's. Help is written before the command line is read, so this comes first.
void set_language_from(int argc, const char* const* argv);

// Labels of the help of `app` and of the verbs that are added to it from now on.
void set_help_labels(CLI::App& app);
// What stands below the verbs: where to start, exit codes, variables.
std::string program_notes();
// Prints the help that was asked for, or what is wrong with the command line; gives the exit code.
int report_usage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace clvet
