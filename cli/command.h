// One verb of the program. Each file of cli/commands defines one; CMake writes the table.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

namespace clvet {

// Exit codes that scripts rely on (INTERFACES.md of the project, docs/index.md).
enum ExitCode : int {
  kExitFine = 0,
  kExitFindings = 1,
  kExitUsage = 2,
  kExitNoDevice = 3,
  kExitOurFault = 4,
  kExitInterrupted = 130,
};

struct Command {
  // Adds the verb's subcommand with its options. Its callback sets `exit_code`.
  void (*add)(CLI::App& app, int& exit_code);
};

const std::vector<const Command*>& commands();

}  // namespace clvet
