// One verb of the program. Each file of cli/commands defines one; CMake writes the table.
#pragma once

#include <vector>

#include "cli/options.h"

namespace clvet {

struct Command {
  // Adds the verb's subcommand with its options. Its callback sets `exit_code`.
  void (*add)(Verb program, int& exit_code);
};

const std::vector<const Command*>& commands();

}  // namespace clvet
