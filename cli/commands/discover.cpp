#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
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
  std::string lang, fix_script;
};

// Of the locale, as programs find it.
std::string own_language() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value && *value) return std::string_view(value).starts_with("zh") ? "zh" : "en";
  }
  return "en";
}

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

Status write_outputs(const DiscoverArguments& arguments, const Diagnosis& diagnosis,
                     const std::string& lang) {
  const std::string& file = arguments.fix_script;
  if (!file.empty()) {
    const std::string script = fix_script(script_steps(diagnosis, lang), diagnosis.root);
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
  const std::string lang = arguments.lang.empty() ? own_language() : arguments.lang;
  if (const Status written = write_outputs(arguments, *diagnosis, lang); !written)
    return report_error(written.error());
  const bool taken = arguments.output.json == "-" || arguments.fix_script == "-";
  if (!arguments.output.quiet && !taken) {
    std::printf("%s", discover_text(*diagnosis, lang).c_str());
    const std::string script = shell_word(clean_utf8(arguments.fix_script));
    if (!arguments.fix_script.empty())
      std::printf("script written: %s (sh %s says what it would do)\n", script.c_str(),
                  script.c_str());
  }
  return exit_code_of(*diagnosis);
}

void add(Verb program, int& exit_code) {
  Verb verb =
      program.add_subcommand("discover", "why is there no OpenCL here, and what to do about it");
  auto arguments = std::make_shared<DiscoverArguments>();
  DiagnosisOptions& options = arguments->diagnosis;
  verb.add_option("--as", options.as,
                  "would this framework find it: paddle-lite mnn tnn mace tflite tvm acl opencv\n"
                  "hashcat llama.cpp clpeak libopencl-stub")
      .type_name("NAME");
  verb.add_option("--root", options.root,
                  "look into this tree (a mounted image, a copy) and load nothing")
      .not_empty("it names no folder")
      .type_name("DIR");
  verb.add_option("--fix-script", arguments->fix_script,
                  "write a shell script that does what is advised, with --apply and --undo; - is\n"
                  "stdout")
      .type_name("FILE|-");
  verb.add_option("--lang", arguments->lang, "en or zh (default: the locale's)")
      .one_of({"en", "zh"});
  verb.add_option("--library", options.discovery.libraries, "try only these OpenCL libraries")
      .type_name("PATH...");
  verb.add_option("--jobs", options.discovery.jobs, "libraries tried at the same time")
      .within(1, 64)
      .shows_default();
  verb.add_option("--data-dir", options.data_dir, "rules and frameworks in place of the built-in")
      .type_name("DIR");
  verb.add_option("--json", arguments->output.json, "also write everything here; - is stdout")
      .type_name("FILE|-");
  verb.add_flag("--quiet", arguments->output.quiet, "print nothing but errors");
  verb.footer(
      "Exit: 0 OpenCL is usable (with --as: by that framework), 1 it is, but not by that "
      "framework,\n"
      "3 there is none, 2 usage. clvet itself changes nothing.\n"
      "Examples:\n"
      "  clvet discover\n"
      "  clvet discover --as paddle-lite --fix-script fix.sh\n"
      "  clvet discover --root /mnt/image --as mnn --lang zh");
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_discover
