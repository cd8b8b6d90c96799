// Runs the real `clvet` on a terminal, as a user does.
#pragma once

#include <string>
#include <vector>

#include "tests/probe/fake/helpers.h"

namespace clvet::test {

struct TerminalSession {
  int exit_code = -1;
  std::string shown;  // all that the terminal was sent: standard output and standard error
};

// Standard output and standard error are one terminal of `columns`. It is started in `folder`.
TerminalSession run_on_terminal(const std::vector<std::string>& arguments,
                                const Variables& environment, int columns,
                                const std::string& folder = ".");

}  // namespace clvet::test
