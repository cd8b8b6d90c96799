// The composition root: collects the verbs, parses, runs one, ends with its exit code.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/language.h"
#include "base/processors.h"
#include "base/result.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/isolate.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "probe/process/process.h"
#include "runtime/exec/flight.h"

// False where what was printed did not all arrive.
static bool all_written() {
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const clvet::Status written = clvet::written_to_stdout(whole ? 0 : errno);
  if (!written) clvet::report_error(written.error());
  return written.has_value();
}

// A driver that was loaded may crash in its destructors: what we had to do is done.
[[noreturn]] static void leave(int exit_code) {
  std::fflush(stdout);
  clvet::finish_verb(exit_code);
  ::_exit(exit_code);
}

// The line that needs no memory any more.
static std::string& no_memory() {
  static std::string words;
  return words;
}

// Memory that runs out where nothing may be thrown, in a destructor say: it is said, without any.
[[noreturn]] static void end() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    const std::string& words = no_memory();
    if (::write(STDERR_FILENO, words.data(), words.size()) < 0) std::abort();
    ::_exit(clvet::kExitOurFault);
  } catch (...) {
    std::abort();
  }
  std::abort();
}

static std::string out_of_memory() {
  return clvet::tr("there is not enough memory; free some, or raise its limit (ulimit -v)");
}

static std::string words_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return out_of_memory();
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system && system->code() == std::errc::resource_unavailable_try_again)
    return clvet::tr(
        "cannot start a thread; free memory, or raise the limits (ulimit -v, ulimit -u)");
  return clvet::tr("internal error: {}; please report it", std::string(error.what()));
}

static int run_verb(int argc, const char* const* argv) {
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
  program.before_verbs(clvet::check_threads_variable);
  program.footer(clvet::program_notes());
  for (const clvet::Command* command : clvet::commands()) command->add(program, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return clvet::report_usage(app, error);
  }
  const bool told = exit_code == clvet::kExitUsage;
  return told || all_written() ? exit_code : static_cast<int>(clvet::kExitUsage);
}

int main(int argc, char** argv) {
  std::set_terminate(end);
  try {
    clvet::end_with_parent();
    clvet::set_language_from(argc, argv);
    no_memory() = "clvet: " + out_of_memory() + "\n";
    clvet::raise_descriptor_limit();
    leave(run_verb(argc, argv));
  } catch (const std::exception& error) {
    clvet::print_error(words_of(error));
    leave(clvet::kExitOurFault);
  }
}
