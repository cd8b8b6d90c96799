#include <cstdio>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/discover/discover.h"
#include "probe/probe.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "probe/trial/cases.h"
#include "probe/worker/worker_limits.h"
#include "reports/render/text.h"

namespace clvet::command_probe {
namespace {

struct ProbeArguments {
  ProbeOptions probe;
  OutputOptions output;
  std::string out, tier = "core";
  bool if_changed = false;
};

int exit_code_of(const Report& report) {
  if (report.devices.empty()) return kExitNoDevice;
  for (const DeviceReport& device : report.devices) {
    if (device.best) return kExitFine;
  }
  return kExitFindings;
}

bool still_current(const Report& report, const ProbeArguments& arguments) {
  return report_is_current(report) && (arguments.tier != "full" || report.run.tier == "full") &&
         same_candidates(report, arguments.probe.libraries);
}

int show(const ProbeArguments& arguments, const Report& report, const std::string& path,
         const char* what) {
  if (const Status written = write_document(arguments.output, report_to_json(report)); !written) {
    return report_error(written.error());
  }
  if (!arguments.output.quiet && arguments.output.json != "-") {
    std::printf("%s", summary_text(report, use_colours(1)).c_str());
    std::printf("report %s: %s\n", what, path.c_str());
  }
  return exit_code_of(report);
}

int run(ProbeArguments& arguments) {
  ProbeOptions& options = arguments.probe;
  options.state_dir = state_dir();
  options.program = own_executable();
  options.tier = arguments.tier == "full" ? Tier::kFull : Tier::kCore;
  options.sink = terminal_sink(arguments.output.quiet);
  const std::string path =
      arguments.out.empty() ? options.state_dir + "/report.json" : arguments.out;
  if (arguments.if_changed) {
    if (const auto text = read_file(path)) {
      const auto old = report_from_json(*text, path);
      if (!old) return report_error(old.error());
      if (still_current(*old, arguments)) return show(arguments, *old, path, "unchanged");
    }
  }
  catch_interrupts();
  if (arguments.out.empty()) {
    if (const Status made = make_folders(options.state_dir); !made)
      return report_error(made.error());
  }
  // Found out before the work, not after it: can the report be written?
  if (const Status writable = check_writable(path); !writable)
    return report_error(writable.error());
  if (const std::string& json = arguments.output.json; !json.empty() && json != "-") {
    if (const Status writable = check_writable(json); !writable)
      return report_error(writable.error());
  }
  const auto report = probe(options);
  end_progress();
  if (!report) {
    const int code = report_error(report.error());
    return report.error().code == ErrorCode::kUnavailable ? kExitUsage : code;
  }
  if (const Status written = write_file_atomically(path, report_to_json(*report)); !written) {
    return report_error(written.error());
  }
  if (interrupt_requested) {
    std::fprintf(stderr,
                 "clvet: interrupted; what is known is in %s, and the next 'clvet probe' goes on "
                 "from here\n",
                 path.c_str());
    return kExitInterrupted;
  }
  return show(arguments, *report, path, "written");
}

void add(Verb program, int& exit_code) {
  Verb verb =
      program.add_subcommand("probe", "try this machine's OpenCL drivers and write a report");
  auto arguments = std::make_shared<ProbeArguments>();
  ProbeOptions& options = arguments->probe;
  const Option out =
      verb.add_option("--out", arguments->out, "report file (default: in the state folder)")
          .type_name("FILE");
  verb.add_option("--library", options.libraries, "try only these OpenCL libraries")
      .type_name("PATH...");
  verb.add_option("--device", options.device, "index, platform:index or part of a name")
      .type_name("SEL");
  verb.add_option("--tier", arguments->tier, "core: one variant a combination; full: all")
      .one_of({"core", "full"})
      .shows_default();
  verb.add_option(
          "--case", options.cases,
          "try only cases whose name contains this (* stands for any text); the report lists\n"
          "only these, so name a file of its own with --out")
      .type_name("PATTERN...")
      .needs(out);
  verb.add_option("--budget", options.budget_seconds,
                  "stop after so many seconds with what is known")
      .above_zero()
      .type_name("S");
  verb.add_flag("--fresh", options.fresh, "forget what an interrupted probe left behind");
  verb.add_flag("--if-changed", arguments->if_changed, "do nothing where the report still holds");
  verb.add_option("--jobs", options.jobs, "libraries tried at the same time")
      .within(1, 64)
      .shows_default();
  verb.add_option("--data-dir", options.data_dir, "advice data in place of the built-in")
      .type_name("DIR");
  verb.add_option("--json", arguments->output.json, "also write the report here; - is stdout")
      .type_name("FILE|-");
  verb.add_flag("--quiet", arguments->output.quiet, "print nothing but errors");
  verb.footer(
      "Exit: 0 a device has a right combination, 1 none has, 3 no device, 2 usage.\n"
      "Examples:\n"
      "  clvet probe\n"
      "  clvet probe --library /usr/lib/libmali.so.1 --out board.json\n"
      "  clvet probe --tier full --budget 600\n"
      "  clvet probe --case gemm --case 'gemv*/low' --out matrix.json\n"
      "  clvet probe --if-changed --quiet");
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_probe
