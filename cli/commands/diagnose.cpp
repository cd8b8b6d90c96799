#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/language.h"
#include "base/result.h"
#include "cli/calibration.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/diagnose_place.h"
#include "cli/exit_code.h"
#include "cli/failing_files.h"
#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/isolate.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/prompt_inputs.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "reports/render/diagnosis_csv.h"
#include "reports/render/diagnosis_text.h"
#include "reports/render/html/diagnosis_page.h"
#include "runtime/gguf/file.h"
#include "runtime/graph/graph.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/onnx/reader.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/diagnose_language_on_device.h"
#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/precision/diagnose_language.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/failing_part.h"
#include "runtime/precision/number_format.h"
#include "runtime/run/model_file.h"

namespace clvet::command_diagnose {
namespace {

struct DiagnoseArguments {
  std::string model, calibration, policy = "engine", html, csv, failing;
  DiagnosePlace place;
  std::optional<Report> drivers;  // where that is a device
  InputArguments inputs;
  PromptArguments prompts;
  DiagnoseOptions options;
  OutputOptions output;
};

using Render = std::string (*)(const PrecisionDiagnosis& found);

void tell(const DiagnoseArguments& arguments, const std::vector<std::string>& left_out) {
  for (const std::string& text : left_out) arguments.options.sink({EventLevel::kWarning, text});
}

Result<std::vector<CalibrationInput>> inputs_of(const DiagnoseArguments& arguments,
                                                const Graph& graph) {
  if (arguments.calibration.empty()) {
    Notes notes;
    CLVET_ASSIGN_OR_RETURN(auto values, read_inputs(arguments.inputs, graph, notes));
    say(notes, arguments.options.sink);
    return std::vector{CalibrationInput{"input", std::move(values)}};
  }
  std::vector<std::string> left_out;
  auto inputs = read_calibration(arguments.calibration, arguments.inputs, graph, left_out);
  if (inputs) tell(arguments, left_out);
  return inputs;
}

Result<FailingFiles> save_part(const DiagnoseArguments& arguments, const Graph& graph,
                               const std::vector<CalibrationInput>& inputs,
                               const PrecisionDiagnosis& found) {
  const DiagnoseOptions& options = arguments.options;
  CLVET_ASSIGN_OR_RETURN(const FailingPart part, failing_part(graph, inputs, found, options));
  return save_failing(part, options.policy, options.format, arguments.failing);
}

Result<PrecisionDiagnosis> there(const DiagnoseArguments& arguments, const std::string& key,
                                 const DiagnoseOnDevice& diagnose) {
  return diagnose_there(arguments.place, *arguments.drivers, {arguments.model, key},
                        arguments.options.sink, diagnose);
}

Result<PrecisionDiagnosis> diagnose_onnx(const DiagnoseArguments& arguments) {
  if (arguments.prompts.any())
    return fail(ErrorCode::kInvalidArgument, "a network takes --input or --calibration, no prompt");
  const bool here = arguments.place.on_host();
  std::string key;
  CLVET_ASSIGN_OR_RETURN(const Graph graph,
                         read_keyed_onnx(arguments.model, here ? nullptr : &key));
  CLVET_ASSIGN_OR_RETURN(const auto inputs, inputs_of(arguments, graph));
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found,
                         here ? diagnose_network(graph, inputs, arguments.options)
                              : there(arguments, key, [&](const DeviceTarget& target) {
                                  return diagnose_on_device(graph, inputs, arguments.options,
                                                            target);
                                }));
  if (arguments.failing.empty() || !found.plan) return found;
  auto files = save_part(arguments, graph, inputs, found);
  if (files)
    found.failing = std::move(*files);
  else
    arguments.options.sink({EventLevel::kWarning, files.error().message});
  return found;
}

Result<PrecisionDiagnosis> diagnose_gguf(const DiagnoseArguments& arguments) {
  if (arguments.inputs.any())
    return fail(ErrorCode::kInvalidArgument, "a language model takes --prompt, not --input");
  if (!arguments.failing.empty())
    return fail(ErrorCode::kInvalidArgument,
                "--save-failing is for ONNX models: no part of a GGUF model can be written");
  CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  std::vector<std::string> left_out;
  CLVET_ASSIGN_OR_RETURN(
      const auto inputs,
      read_prompt_inputs(arguments.prompts, arguments.calibration, file, config, left_out));
  tell(arguments, left_out);
  if (!arguments.place.on_host()) {
    CLVET_ASSIGN_OR_RETURN(const std::string key, sha256_of_file(arguments.model));
    return there(arguments, key, [&](const DeviceTarget& target) {
      return diagnose_language_on_device(file, config, inputs, arguments.options, target);
    });
  }
  return diagnose_language(config, LlmWeights(file, config), inputs, arguments.options);
}

Result<PrecisionDiagnosis> diagnose(DiagnoseArguments& arguments) {
  arguments.options.policy = arguments.policy == "naive" ? Policy::kNaive : Policy::kEngine;
  arguments.options.format =
      arguments.place.precision == "bf16" ? NumberFormat::kBfloat : NumberFormat::kHalf;
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found, is_gguf(arguments.model)
                                                       ? diagnose_gguf(arguments)
                                                       : diagnose_onnx(arguments));
  found.model = arguments.model;
  return found;
}

// A diagnosis may take minutes: what cannot be written is said before.
Status check_files(const DiagnoseArguments& arguments) {
  for (const std::string& path : {arguments.html, arguments.csv, arguments.place.save_plan}) {
    if (!path.empty()) CLVET_RETURN_IF_ERROR(check_writable(path));
  }
  const bool failing = !arguments.failing.empty() && !is_gguf(arguments.model);
  return failing ? check_failing_folder(arguments.failing) : Status();
}

// All that can be said before the work.
Status prepare(DiagnoseArguments& arguments) {
  const bool naive = arguments.policy == "naive", here = arguments.place.on_host();
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  CLVET_RETURN_IF_ERROR(check_diagnose_place(arguments.place, naive, is_gguf(arguments.model)));
  CLVET_RETURN_IF_ERROR(check_files(arguments));
  if (here || arguments.place.guard.isolate) return {};
  CLVET_ASSIGN_OR_RETURN(arguments.drivers,
                         current_report(arguments.place.report, arguments.options.sink));
  return {};
}

Status write_all(const DiagnoseArguments& arguments, const PrecisionDiagnosis& found) {
  CLVET_RETURN_IF_ERROR(write_document(arguments.output, diagnosis_to_json(found)));
  const bool silent = arguments.output.quiet || arguments.output.json == "-";
  if (!silent) print_text(diagnosis_text(found));
  const std::pair<std::string, Render> files[] = {{arguments.html, diagnosis_page},
                                                  {arguments.csv, diagnosis_csv}};
  for (const auto& [path, render] : files) {
    if (path.empty()) continue;
    CLVET_RETURN_IF_ERROR(write_file_atomically(path, render(found)));
    if (!silent) print_line(tr("written: {}", path));
  }
  return {};
}

int run(DiagnoseArguments& arguments) {
  arguments.options.sink = verb_sink(arguments.output.quiet);
  catch_interrupts();
  adopt_orphans();
  if (const Status ready = prepare(arguments); !ready) return report_error(ready.error());
  if (arguments.place.guard.isolate || (arguments.drivers && wants_isolation(*arguments.drivers)))
    return run_isolated(arguments.place.guard, false, arguments.options.sink);
  const auto found = diagnose(arguments);
  end_progress();
  if (!found) return report_error(found.error());
  const Status written = write_all(arguments, *found);
  if (!written) return report_error(written.error());
  if (found->stopped) {
    const int code = report_error(*found->stopped);
    return found->stopped->code == ErrorCode::kDeviceError ? kExitNoDevice : code;
  }
  return found->plan || found->float_fault ? kExitFindings : kExitFine;
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand(
      "diagnose", "find the nodes of a model that low precision breaks, and what cures them");
  auto arguments = std::make_shared<DiagnoseArguments>();
  verb.add_option("model", arguments->model, "ONNX or GGUF file").required().type_name("MODEL");
  add_inputs(verb, arguments->inputs);
  add_prompt_inputs(verb, arguments->prompts);
  verb.add_option("--calibration", arguments->calibration,
                  "a folder of inputs: files of the model's only input, or folders with a file "
                  "named\nafter each input; for language models files of text")
      .type_name("DIR")
      .excludes("--input");
  verb.add_option("--policy", arguments->policy,
                  "engine: the network as clvet runs it, folded and fused; naive: as it stands in "
                  "the\nfile, every constant rounded, norms added up in low precision, as most "
                  "engines do")
      .one_of({"engine", "naive"})
      .shows_default();
  add_diagnose_place(verb, arguments->place);
  add_threads(verb);
  verb.add_option("--target", arguments->options.target,
                  "the largest error of an output, relative to its size, that is right")
      .above_zero()
      .shows_default();
  verb.add_option("--html", arguments->html,
                  "also write a page to this file, which shows the network and each node's error")
      .type_name("FILE");
  verb.add_option("--csv", arguments->csv, "also write a table to this file, one line a node")
      .type_name("FILE");
  verb.add_option("--save-failing", arguments->failing,
                  "write the smallest part of an ONNX model that fails into this folder, with its "
                  "inputs and\nright outputs (.npy)")
      .type_name("DIR");
  add_output(verb, arguments->output,
             "also write what was found (clvet.diagnosis/1) to this file; - is standard output");
  verb.footer(
      "Exit status: 0 the outputs of all inputs are right at that precision, 1 some are not,\n"
      "2 wrong usage or a bad file, 3 no device that --device means. "
      "Without --device, no driver is used:\nthe host rounds values as low precision would.",
      {"clvet diagnose det.onnx --input x=page.png --image-size 640x640 --policy naive",
       "clvet diagnose model.onnx --calibration inputs/ --html diagnosis.html",
       "clvet diagnose model.onnx --calibration inputs/ --device 0 --save-plan model.plan.json",
       "clvet diagnose model.gguf --prompt \"The capital of France is\""});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_diagnose
