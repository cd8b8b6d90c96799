// The composition root: collects the verbs, parses, runs one, ends with its exit code.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "base/language.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "probe/process/process.h"
#include "runtime/exec/flight.h"

// False where what was printed did not all arrive; a reader that went away wanted no more.
static bool all_written() {
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (whole || errno == EPIPE) return true;
  clvet::print_error(
      clvet::tr("cannot write to standard output: {}", clvet::translated(std::strerror(errno))));
  return false;
}

// A driver that was loaded may crash in its destructors: what we had to do is done.
[[noreturn]] static void leave(int exit_code) {
  std::fflush(stdout);
  clvet::finish_flight(exit_code);
  ::_exit(exit_code);
}

int main(int argc, char** argv) {
  clvet::end_with_parent();
  clvet::set_language_from(argc, argv);
  clvet::raise_descriptor_limit();
  CLI::App app(
      clvet::tr("clvet finds out which OpenCL library, precision, memory mode and kernels give "
                "correct results on this machine and are fast, and runs models with them."));
  clvet::set_help_labels(app);
  app.set_version_flag("--version", std::string("clvet ") + clvet::kVersion,
                       clvet::tr("print the version and exit"));
  app.require_subcommand(1);
  int exit_code = clvet::kExitFine;
  clvet::Verb program(&app);
  program.add_language();
  program.footer("Start with 'clvet probe'. Each verb has --help with examples.");
  for (const clvet::Command* command : clvet::commands()) command->add(program, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    leave(clvet::report_usage(app, error));
  } catch (const std::exception& error) {
    clvet::print_error(
        clvet::tr("internal error: {}; please report it", std::string(error.what())));
    leave(clvet::kExitOurFault);
  }
  const bool told = exit_code == clvet::kExitUsage;
  leave(told || all_written() ? exit_code : static_cast<int>(clvet::kExitUsage));
}
