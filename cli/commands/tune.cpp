// Kernels of a model's own calls, measured on this machine.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "cli/combination_options.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "cli/tuning.h"
#include "probe/report/report.h"
#include "probe/report/tuned.h"
#include "probe/worker/worker_limits.h"
#include "reports/render/tune_text.h"
#include "runtime/gguf/file.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/tuning.h"
#include "runtime/run/model_file.h"
#include "runtime/run/model_plan.h"
#include "runtime/run/tune_record.h"

namespace clvet::command_tune {
namespace {

struct TuneArguments {
  std::string model, report, device = "auto";
  InputArguments inputs;
  std::vector<std::string> shapes;
  CombinationArguments combination;
  double seconds = 60;
  bool exhaustive = false;
  OutputOptions output;
  EventSink sink;
};

// What of the options is read before a report is looked for, which may mean a probe.
struct Subject {
  bool gguf = false;
  std::string sha256;
  Graph graph;  // of an ONNX model
  std::map<std::string, Shape> shapes;
  std::map<std::string, Tensor> values;
  std::vector<std::string> needs;  // of a language model
};

Result<Subject> read_subject(const TuneArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  Subject subject;
  subject.gguf = is_gguf(arguments.model);
  if (subject.gguf) {
    CLVET_ASSIGN_OR_RETURN(subject.sha256, sha256_of_file(arguments.model));
    CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(arguments.model));
    CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
    subject.needs = needs_of(config);
    return subject;
  }
  CLVET_ASSIGN_OR_RETURN(subject.graph, read_keyed_onnx(arguments.model, &subject.sha256));
  CLVET_ASSIGN_OR_RETURN(subject.shapes, read_shapes(arguments.shapes));
  if (arguments.inputs.any()) {
    Notes notes;
    CLVET_ASSIGN_OR_RETURN(subject.values, read_inputs(arguments.inputs, subject.graph, notes));
    say(notes, arguments.sink);
  }
  return subject;
}

Result<ExecutionPlan> plan_of(const TuneArguments& arguments, Subject subject,
                              const Report& report) {
  const NetworkPlanRequest request{&report, arguments.device, arguments.combination.overrides(),
                                   std::move(subject.sha256)};
  if (subject.gguf) return plan_gguf(arguments.model, request);
  return plan_onnx(std::move(subject.graph), std::move(subject.shapes), subject.values, request);
}

Result<TuneRecord> tune(const TuneArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(Subject subject, read_subject(arguments));
  CLVET_ASSIGN_OR_RETURN(Report report,
                         current_report(arguments.report, arguments.sink, subject.needs));
  const std::string folder = state_dir();
  CLVET_RETURN_IF_ERROR(make_private_folder(folder));
  TuningSettings settings{folder, monotonic_seconds() + arguments.seconds, arguments.seconds,
                          arguments.exhaustive, arguments.sink};
  TuneRecord record{.model = arguments.model, .file = tuned_file(folder)};
  Report untuned = report;
  forget_times(untuned);
  const double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(const ExecutionPlan plan, plan_of(arguments, std::move(subject), untuned));
  if (plan.subject.device.empty()) {
    return fail(ErrorCode::kUnavailable,
                "the model runs on the host, where there is nothing to tune");
  }
  CLVET_ASSIGN_OR_RETURN(const PlannedDevice place, device_of_plan(&untuned, plan));
  record.device = place.device->name;
  record.least_gain_ms = least_gain_ms(is_processor(*place.device));
  record.combination = plan.combination;
  const bool open_weights = !is_gguf(arguments.model) && !arguments.combination.overrides().weights;
  CLVET_RETURN_IF_ERROR(tune_calls(settings, report, *place.device,
                                   tunable_calls(plan, *place.chooser, open_weights), record));
  record.seconds = monotonic_seconds() - started;
  record.interrupted = interrupt_requested;
  return record;
}

int run(TuneArguments& arguments) {
  arguments.sink = terminal_sink(arguments.output.quiet);
  catch_interrupts();
  const auto record = tune(arguments);
  end_progress();
  if (!record) return report_error(record.error());
  if (const Status written = write_document(arguments.output, tune_record_to_json(*record));
      !written)
    return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") print_text(tune_text(*record));
  return record->interrupted ? kExitInterrupted : kExitFine;
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand(
      "tune", "measure which kernels are fastest for a model, on this machine");
  auto arguments = std::make_shared<TuneArguments>();
  verb.add_option("model", arguments->model, "ONNX or GGUF file").required().type_name("MODEL");
  verb.add_option("--seconds", arguments->seconds, "stop after this many seconds")
      .seconds()
      .shows_default()
      .type_name("S");
  verb.add_flag("--exhaustive", arguments->exhaustive,
                "also measure kernels that were far behind in the first calls of their operation");
  add_shapes(verb, arguments->shapes);
  add_inputs(verb, arguments->inputs);
  add_report(verb, arguments->report);
  add_device(verb, arguments->device);
  add_combination(verb, arguments->combination, {"auto", "buffer", "image"});
  add_threads(verb);
  add_output(verb, arguments->output,
             "also write what was found (clvet.tune/1) to this file; - is standard output");
  verb.footer(
      "Exit status: 0 tuned, or nothing faster found, 2 wrong usage or a bad file, 3 no device "
      "that\n"
      "--device means, or the model runs on the host, 5 another clvet probe is running,\n"
      "130 interrupted: what was measured is kept. Of a language model the kernels of a generated\n"
      "token are measured. 'clvet run', 'clvet bench' and the libraries use what was found.",
      {"clvet tune cls.onnx --shape x=1x3x48x192 --seconds 20",
       "clvet tune det.onnx --input x=page.png --image-size 640x640",
       "clvet tune model.gguf --seconds 120 --json tune.json"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_tune
