// The composition root: collects the verbs, parses, runs one, ends with its exit code.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/options.h"

// False where what was printed did not all arrive; a reader that went away wanted no more.
static bool all_written() {
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (whole || errno == EPIPE) return true;
  std::fprintf(stderr, "clvet: cannot write to standard output: %s\n", std::strerror(errno));
  return false;
}

int main(int argc, char** argv) {
  CLI::App app(
      "clvet finds out which OpenCL library, precision, memory mode and kernels are right and "
      "fast on this machine, and runs models on them.");
  app.set_version_flag("--version", std::string("clvet ") + clvet::kVersion);
  app.require_subcommand(1);
  app.footer("Start with 'clvet probe'. Each verb has --help with examples.");
  int exit_code = clvet::kExitFine;
  for (const clvet::Command* command : clvet::commands())
    command->add(clvet::Verb(&app), exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? clvet::kExitFine : clvet::kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clvet: internal error: %s; please report it\n", error.what());
    return clvet::kExitOurFault;
  }
  // A driver that was loaded may crash in its destructors: what we had to do is done.
  const bool told = exit_code == clvet::kExitUsage;
  ::_exit(told || all_written() ? exit_code : static_cast<int>(clvet::kExitUsage));
}
