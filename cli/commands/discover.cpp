#include <memory>
#include <string>

#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "probe/diagnose/diagnosis.h"
#include "probe/diagnose/fix_script.h"
#include "probe/files/personalities.h"
#include "probe/process/process.h"
#include "probe/worker/worker_limits.h"
#include "reports/render/discover_text.h"

namespace clvet::command_discover {
namespace {

struct DiscoverArguments {
  DiagnosisOptions diagnosis;
  OutputOptions output;
  std::string fix_script;
};

int exit_code_of(const Diagnosis& diagnosis) {
  if (!diagnosis.usable) return kExitNoDevice;
  const bool found = !diagnosis.framework || diagnosis.framework->replay.end == ReplayEnd::kUsable;
  return found ? kExitFine : kExitFindings;
}

Status check_outputs(const DiscoverArguments& arguments) {
  if (arguments.fix_script == "-" && arguments.output.json == "-")
    return fail(ErrorCode::kInvalidArgument,
                "--fix-script and --json cannot both go to standard output; name a file for one");
  for (const std::string* path : {&arguments.fix_script, &arguments.output.json}) {
    if (!path->empty() && *path != "-") CLVET_RETURN_IF_ERROR(check_writable(*path));
  }
  return {};
}

Status write_outputs(const DiscoverArguments& arguments, const Diagnosis& diagnosis) {
  const std::string& file = arguments.fix_script;
  if (!file.empty()) {
    const std::string script =
        fix_script(script_steps(diagnosis, to_string(language())), diagnosis.root);
    CLVET_RETURN_IF_ERROR(file == "-" ? write_document({file, false}, script)
                                      : write_file_atomically(file, script));
  }
  return write_document(arguments.output, diagnosis_to_json(diagnosis));
}

int run(DiscoverArguments& arguments) {
  if (const Status writable = check_outputs(arguments); !writable)
    return report_error(writable.error());
  if (arguments.diagnosis.root.empty()) catch_interrupts();  // of a tree there is nothing to end
  arguments.diagnosis.discovery.worker = WorkerSettings{own_executable(), {}, WorkerLimits{}, 0};
  const auto diagnosis = diagnose(arguments.diagnosis);
  if (interrupt_requested) return kExitInterrupted;
  if (!diagnosis) return report_error(diagnosis.error());
  if (const Status written = write_outputs(arguments, *diagnosis); !written)
    return report_error(written.error());
  const bool taken = arguments.output.json == "-" || arguments.fix_script == "-";
  if (!arguments.output.quiet && !taken) {
    print_text(discover_text(*diagnosis));
    const std::string script = shell_word(clean_utf8(arguments.fix_script));
    if (!arguments.fix_script.empty())
      fmt::print("{}\n",
                 tr("script written: {} ('sh {}' prints what it would do)", script, script));
  }
  return exit_code_of(*diagnosis);
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("discover",
                                     "find out why OpenCL does not work here, and how to mend it");
  auto arguments = std::make_shared<DiscoverArguments>();
  DiagnosisOptions& options = arguments->diagnosis;
  verb.add_option("--as", options.as,
                  "tell whether this framework finds OpenCL here, and what it needs:\n"
                  "paddle-lite mnn tnn mace tflite tvm acl opencv hashcat llama.cpp clpeak\n"
                  "libopencl-stub")
      .type_name("NAME");
  verb.add_option("--root", options.root,
                  "examine this folder tree (a mounted image, a copy) and load no library")
      .not_empty("--root: the name of the folder is empty")
      .type_name("DIR");
  verb.add_option("--fix-script", arguments->fix_script,
                  "write a shell script that makes the advised changes (--apply) and takes\n"
                  "them back (--undo); - is standard output")
      .type_name("FILE|-");
  add_libraries(verb, options.discovery.libraries, options.discovery.jobs);
  add_data_dir(verb, options.data_dir);
  add_output(verb, arguments->output,
             "also write everything that was found to this file; - is standard output");
  verb.footer(
      "Exit status: 0 OpenCL is usable (with --as: by that framework), 1 that framework cannot use "
      "it,\n"
      "2 wrong usage, 3 OpenCL is not usable. clvet itself changes nothing.",
      {"clvet discover", "clvet discover --as paddle-lite --fix-script fix.sh",
       "clvet discover --root /mnt/image --as mnn --lang zh"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_discover
