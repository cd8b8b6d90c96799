#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "cli/calibration.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/isolate.h"
#include "cli/model_file.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "reports/render/diagnosis_text.h"
#include "runtime/graph/graph.h"
#include "runtime/onnx/reader.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"

namespace clvet::command_diagnose {
namespace {

struct DiagnoseArguments {
  std::string model, calibration, policy = "engine", precision = "low";
  InputArguments inputs;
  DiagnoseOptions options;
  OutputOptions output;
};

Result<std::vector<CalibrationInput>> inputs_of(const DiagnoseArguments& arguments,
                                                const Graph& graph) {
  if (arguments.calibration.empty()) {
    CLVET_ASSIGN_OR_RETURN(auto values, read_inputs(arguments.inputs, graph));
    return std::vector{CalibrationInput{"input", std::move(values)}};
  }
  std::vector<std::string> left_out;
  auto inputs = read_calibration(arguments.calibration, arguments.inputs, graph, left_out);
  if (inputs) {
    for (const std::string& text : left_out) arguments.options.sink({EventLevel::kWarning, text});
  }
  return inputs;
}

Result<PrecisionDiagnosis> diagnose(DiagnoseArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  if (is_gguf(arguments.model)) {
    return fail(ErrorCode::kUnsupported,
                "clvet diagnose reads ONNX networks; language models are still to come");
  }
  CLVET_ASSIGN_OR_RETURN(const Graph graph, read_onnx(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const auto inputs, inputs_of(arguments, graph));
  arguments.options.policy = arguments.policy == "naive" ? Policy::kNaive : Policy::kEngine;
  arguments.options.format =
      arguments.precision == "bf16" ? NumberFormat::kBfloat : NumberFormat::kHalf;
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found,
                         diagnose_network(graph, inputs, arguments.options));
  found.model = arguments.model;
  return found;
}

int run(DiagnoseArguments& arguments) {
  arguments.options.sink = verb_sink(arguments.output.quiet);
  catch_interrupts();
  const auto found = diagnose(arguments);
  end_progress();
  if (!found) return report_error(found.error());
  if (const Status written = write_document(arguments.output, diagnosis_to_json(*found)); !written)
    return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") print_text(diagnosis_text(*found));
  return found->plan ? kExitFindings : kExitFine;
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand(
      "diagnose", "find the nodes of a network that low precision breaks, and what cures them");
  auto arguments = std::make_shared<DiagnoseArguments>();
  verb.add_option("model", arguments->model, "ONNX file").required().type_name("MODEL");
  add_inputs(verb, arguments->inputs);
  verb.add_option("--calibration", arguments->calibration,
                  "a folder of inputs: files of the model's only input, or folders with a file "
                  "named\nafter each input")
      .type_name("DIR")
      .excludes("--input");
  verb.add_option("--policy", arguments->policy,
                  "engine: the network as clvet runs it, folded and fused; naive: as it stands in "
                  "the\nfile, every constant rounded, as most engines do")
      .one_of({"engine", "naive"})
      .shows_default();
  verb.add_option("--precision", arguments->precision,
                  "what the host stores values as after each node: low is half")
      .one_of({"low", "bf16"})
      .shows_default();
  verb.add_option("--target", arguments->options.target,
                  "the largest error of an output, relative to its size, that is right")
      .above_zero()
      .shows_default();
  add_output(verb, arguments->output,
             "also write what was found (clvet.diagnosis/1) to this file; - is standard output");
  verb.footer(
      "Exit status: 0 the outputs of all inputs are right at that precision, 1 some are not,\n"
      "2 wrong usage or a bad file. The host rounds values as low precision would; no device is "
      "used.",
      {"clvet diagnose det.onnx --input x=page.png --image-size 640x640 --policy naive",
       "clvet diagnose model.onnx --calibration inputs/ --json diagnosis.json"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_diagnose
