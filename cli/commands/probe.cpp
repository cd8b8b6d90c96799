#include <memory>
#include <string>

#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/discover/discover.h"
#include "probe/host/current_report.h"
#include "probe/probe.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
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
         bool is_new) {
  if (const Status written = write_document(arguments.output, report_to_json(report)); !written) {
    return report_error(written.error());
  }
  if (!arguments.output.quiet && arguments.output.json != "-") {
    print_coloured(summary_text(report, use_colours(1)));
    print_line(is_new ? tr("report written: {}", path) : tr("report unchanged: {}", path));
  }
  return exit_code_of(report);
}

// Found out before the work, not after it: can the report be written?
Status check_outputs(const ProbeArguments& arguments, const std::string& path) {
  CLVET_RETURN_IF_ERROR(make_private_folder(arguments.probe.state_dir));
  if (arguments.out.empty()) CLVET_RETURN_IF_ERROR(check_private(path));
  CLVET_RETURN_IF_ERROR(check_writable(path));
  const std::string& json = arguments.output.json;
  return json.empty() || json == "-" ? Status() : check_writable(json);
}

// A new report, written to `path`.
int probe_to(const ProbeArguments& arguments, const std::string& path) {
  catch_interrupts();
  if (const Status writable = check_outputs(arguments, path); !writable)
    return report_error(writable.error());
  ProbeOptions options = arguments.probe;
  const bool narrowed = !options.device.empty() || !options.libraries.empty();
  bool is_new = true;
  options.keep = [&](Report& report) -> Status {
    CLVET_ASSIGN_OR_RETURN(is_new, keep_report(path, narrowed, options.sink, report));
    return {};
  };
  const auto report = probe(options);
  end_progress();
  if (!report) return report_error(report.error());
  if (!interrupt_requested) return show(arguments, *report, path, is_new);
  print_error(
      tr("interrupted; {} holds what is known, and the next 'clvet probe' continues", path));
  return kExitInterrupted;
}

int run(ProbeArguments& arguments) {
  ProbeOptions& options = arguments.probe;
  options.state_dir = state_dir();
  options.program = own_executable();
  options.tier = arguments.tier == "full" ? Tier::kFull : Tier::kCore;
  options.sink = terminal_sink(arguments.output.quiet);
  const std::string path = arguments.out.empty() ? report_file(options.state_dir) : arguments.out;
  if (!arguments.if_changed) return probe_to(arguments, path);
  const auto text = read_file(path);
  if (!text) return probe_to(arguments, path);
  const auto old = report_from_json(*text, path);
  if (!old) return report_error(old.error());
  return still_current(*old, arguments) ? show(arguments, *old, path, false)
                                        : probe_to(arguments, path);
}

void add_cases(Verb verb, ProbeArguments& arguments, const Option& out) {
  ProbeOptions& options = arguments.probe;
  verb.add_option("--tier", arguments.tier,
                  "core: one kernel variant for each combination; full: all variants")
      .one_of({"core", "full"})
      .shows_default();
  verb.add_option("--case", options.cases,
                  "try only cases whose name contains PATTERN (* stands for any text).\n"
                  "The report then lists only these, so --out has to name a file")
      .type_name("PATTERN")
      .needs(out);
  verb.add_option("--budget", options.budget_seconds,
                  "stop after this many seconds and report what was found until then")
      .seconds()
      .type_name("SECONDS");
  verb.add_flag("--fresh", options.fresh, "do not continue an interrupted probe; start again");
  verb.add_flag("--if-changed", arguments.if_changed,
                "do nothing if the report is still valid for these drivers and kernels");
}

void add(Verb program, int& exit_code) {
  Verb verb =
      program.add_subcommand("probe", "test this machine's OpenCL drivers, and write a report");
  auto arguments = std::make_shared<ProbeArguments>();
  ProbeOptions& options = arguments->probe;
  const Option out =
      verb.add_option("--out", arguments->out,
                      "write the report to this file (default: report.json in the state folder)")
          .type_name("FILE");
  add_libraries(verb, options.libraries, options.jobs);
  verb.add_option("--device", options.device,
                  "try only the devices that match: a number, PLATFORM:DEVICE or part of a name")
      .type_name("DEVICE");
  add_cases(verb, *arguments, out);
  add_data_dir(verb, options.data_dir);
  add_threads(verb);
  add_output(verb, arguments->output, "also write the report to this file; - is standard output");
  verb.footer(
      "Exit status: 0 a device has a combination in which nothing failed and every operation is "
      "right,\n"
      "1 no device has one, 2 wrong usage, 3 no OpenCL device or none that --device means,\n"
      "4 clvet or the machine failed, 5 another clvet probe is running.",
      {"clvet probe", "clvet probe --library /usr/lib/libmali.so.1 --out board.json",
       "clvet probe --tier full --budget 600",
       "clvet probe --case gemm --case 'gemv*/low' --out matrix.json",
       "clvet probe --if-changed --quiet"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_probe
