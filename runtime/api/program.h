// The clvet program, run for its work in a process of its own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace clvet {

// `named`, else $CLVET_PROGRAM, else `clvet` where an installation has it beside this library, else
// on the PATH. kNotFound names where it was looked for.
Result<std::string> find_program(const std::string& named);

struct ProgramRun {
  std::string program;
  std::vector<std::string> args;                   // without the program's name
  std::map<std::string, std::string> environment;  // on top of this process's own
  // Gets what it prints, a line at a time, and an empty line twice a second while it is silent.
  // False: it is interrupted as by Ctrl-C.
  std::function<bool(const std::string& line)> line;
};

struct ProgramEnd {
  bool was_told = false;  // to end, by `line`
  int exit_status = 0;
  int signal = 0;         // it was killed by this
  std::string last_line;  // that it printed
};

// Waits for its end. kInternal: it cannot be started.
Result<ProgramEnd> run_program(const ProgramRun& run);

}  // namespace clvet
