#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/combination_options.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/isolate.h"
#include "cli/model_file.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/step_options.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "reports/render/run_text.h"
#include "runtime/decode/ctc.h"
#include "runtime/exec/flight.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "runtime/media/output_names.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/plan.h"
#include "runtime/run/network_options.h"
#include "runtime/run/open_network.h"
#include "runtime/run/run_model.h"
#include "runtime/run/run_record.h"
#include "runtime/run/steps.h"

namespace clvet::command_run {
namespace {

struct RunArguments {
  std::string model, output_dir, report;
  InputArguments inputs;
  StepArguments steps;
  CombinationArguments combination;
  std::string plan, start = "device";
  bool explain = false;
  GuardOptions guard;
  int top = 0;
  std::string decode;
  ModelRunOptions options;
  OutputOptions output;
};

// Each output as an .npy file, whose name the record gets, and the record itself.
Status fill_folder(const std::string& folder, ModelRun& run) {
  std::vector<std::string> names;
  for (const OutputRecord& row : run.record.outputs) names.push_back(row.name);
  const std::vector<std::string> files = npy_names(names);
  for (size_t i = 0; i < files.size(); ++i) {
    OutputRecord& row = run.record.outputs[i];
    row.file = folder + "/" + files[i];
    CLVET_RETURN_IF_ERROR(write_npy(row.file, run.outputs.at(row.name)));
  }
  return write_file_atomically(folder + "/run.json", run_record_to_json(run.record));
}

Status write_outputs(const RunArguments& arguments, ModelRun& run) {
  for (const auto& [name, tensor] : run.outputs) {
    run.record.outputs.push_back({name, to_string(tensor.dtype()), tensor.shape(), {}});
  }
  if (!arguments.output_dir.empty()) CLVET_RETURN_IF_ERROR(fill_folder(arguments.output_dir, run));
  return write_document(arguments.output, run_record_to_json(run.record));
}

Status take_words(RunArguments& arguments) {
  arguments.options.start = parse_start(arguments.start).value_or(Start::kDevice);
  arguments.options.overrides = arguments.combination.overrides();
  if (!arguments.plan.empty()) {
    CLVET_ASSIGN_OR_RETURN(arguments.options.plan, read_plan(arguments.plan));
  }
  arguments.options.node_times =
      !arguments.output_dir.empty() || !arguments.output.json.empty() || arguments.explain;
  if (!arguments.output_dir.empty()) {
    CLVET_RETURN_IF_ERROR(make_folders(arguments.output_dir));
  }
  return {};
}

Status check_given_once(const std::map<std::string, Tensor>& inputs,
                        const std::optional<StepOptions>& steps) {
  for (const auto& [name, tensor] : inputs) {
    if (steps && steps->series.contains(name))
      return fail(ErrorCode::kInvalidArgument, "'{}' has both --input and --series; leave one out",
                  name);
  }
  return {};
}

// Nothing where another process has to do it.
Result<std::optional<ModelRun>> run_once(RunArguments& arguments) {
  CLVET_RETURN_IF_ERROR(take_words(arguments));
  const bool host = arguments.options.device == "host";
  CLVET_ASSIGN_OR_RETURN(
      Graph graph, read_keyed_onnx(arguments.model, host ? nullptr : &arguments.options.model_key));
  Notes notes;
  CLVET_ASSIGN_OR_RETURN(arguments.options.steps,
                         read_steps(arguments.steps, graph, arguments.inputs.sample_rate, notes));
  std::vector<std::string> served;
  if (arguments.options.steps) {
    CLVET_ASSIGN_OR_RETURN(served, inputs_of_steps(graph, *arguments.options.steps));
    CLVET_RETURN_IF_ERROR(round_to_bfloat(graph, arguments.options.steps->series));
  }
  CLVET_ASSIGN_OR_RETURN(auto inputs, read_inputs(arguments.inputs, graph, notes, served));
  CLVET_RETURN_IF_ERROR(check_given_once(inputs, arguments.options.steps));
  std::optional<Report> report;
  if (!host) {
    CLVET_ASSIGN_OR_RETURN(report, current_report(arguments.report, arguments.options.sink));
    arguments.options.state_dir = state_dir();
    CLVET_RETURN_IF_ERROR(check_private(arguments.options.state_dir));
    if (wants_isolation(*report)) return std::nullopt;
  }
  say(notes, arguments.options.sink);
  std::vector<std::string> characters;
  if (arguments.decode == "ctc") {
    CLVET_ASSIGN_OR_RETURN(characters, ctc_characters(graph));
  }
  const ProcessGuard process_guard;
  CLVET_ASSIGN_OR_RETURN(ModelRun run, run_model(std::move(graph), inputs,
                                                 report ? &*report : nullptr, arguments.options));
  run.record.model = arguments.model;
  if (!characters.empty()) {
    CLVET_ASSIGN_OR_RETURN(run.record.texts, decode_ctc(run.outputs.begin()->second, characters));
  }
  return run;
}

void save_programs(OpenNetwork& session) {
  const ProcessGuard process_guard;
  session.save_programs();
}

int run(RunArguments& arguments) {
  arguments.options.sink = verb_sink(arguments.output.quiet);
  catch_interrupts();
  adopt_orphans();
  arguments.options.self_check = arguments.guard.rate();
  if (arguments.guard.isolate)
    return run_isolated(arguments.guard, arguments.options.strict, arguments.options.sink);
  auto made = run_once(arguments);
  end_progress();
  if (made && !*made)
    return run_isolated(arguments.guard, arguments.options.strict, arguments.options.sink);
  if (!made) {
    const bool refused = arguments.options.strict && made.error().code == ErrorCode::kUnavailable;
    const int code = report_error(made.error());
    return refused ? kExitFindings : code;
  }
  ModelRun& result = **made;
  // A driver may die when it is released: that is left to the end of the process.
  static const auto* kept = new std::shared_ptr(result.session);
  static_cast<void>(kept);
  // What a child has printed cannot be taken back if the driver dies then.
  if (is_isolated()) save_programs(*result.session);
  if (const Status written = write_outputs(arguments, result); !written)
    return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") {
    print_text(run_text(result.record, arguments.explain));
    if (arguments.output_dir.empty()) print_text(outputs_text(result.outputs));
    print_text(decoded_text(result.record));
    if (arguments.top > 0) print_text(top_text(result.outputs, arguments.top));
  }
  if (!is_isolated()) save_programs(*result.session);
  return kExitFine;
}

void add_results(Verb verb, RunArguments& arguments) {
  verb.add_option("--output-dir", arguments.output_dir,
                  "write the outputs (.npy) and the run record (run.json) into this folder")
      .type_name("DIR");
  verb.add_option("--top", arguments.top, "print the K largest values of the first output")
      .within(1, 1000)
      .type_name("K");
  verb.add_option("--decode", arguments.decode,
                  "ctc: decode the output of a text recognition network and print its text")
      .one_of({"ctc"});
  verb.add_flag("--explain", arguments.explain, "print for each node where it runs and why");
  add_output(verb, arguments.output,
             "also write the run record to this file; - is standard output");
}

void add_ways(Verb verb, RunArguments& arguments) {
  add_report(verb, arguments.report);
  add_device(verb, arguments.options.device);
  add_combination(verb, arguments.combination, {"auto", "buffer", "image"});
  add_plan_option(verb, arguments.plan);
  add_strict(verb, arguments.options.strict);
  add_threads(verb);
  verb.add_option("--start", arguments.start,
                  "cpu-first: the host answers until the device is ready; device: wait for it")
      .one_of({"device", "cpu-first"})
      .shows_default();
  add_guard(verb, arguments.guard);
  verb.add_option("--repeat", arguments.options.repeat, "timed runs after the first one")
      .within(0, 1000000)
      .shows_default();
}

void add(Verb program, int& exit_code) {
  Verb verb =
      program.add_subcommand("run", "run an ONNX network with kernels that passed the tests");
  auto arguments = std::make_shared<RunArguments>();
  verb.add_option("model", arguments->model, "ONNX file")
      .required()
      .type_name("MODEL")
      .fits(fault_of_network);
  add_inputs(verb, arguments->inputs);
  add_steps(verb, arguments->steps);
  add_results(verb, *arguments);
  add_ways(verb, *arguments);
  verb.footer(
      "Exit status: 0 the outputs were computed, 1 --strict and a fallback was needed,\n"
      "2 wrong usage or a bad file, 3 no device that --device means, 5 another clvet probe is "
      "running.\n"
      "If this machine has no report for its drivers, clvet run probes them first.",
      {"clvet run cls.onnx --input x=line.png --image-size 192x48 --mean 127.5 --scale "
       "0.00784313725 --bgr --top 2",
       "clvet run model.onnx --input x=x.npy --output-dir out --repeat 20",
       "clvet run model.onnx --input x=x.npy --device host"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_run
