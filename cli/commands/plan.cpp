#include "runtime/plan/plan.h"
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "cli/combination_options.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/input_files.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "reports/render/plan_text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/kept_report.h"
#include "runtime/run/model_file.h"
#include "runtime/run/model_plan.h"

namespace clvet::command_plan {
namespace {

struct PlanArguments {
  std::string model, report, device = "auto", out;
  InputArguments inputs;
  std::vector<std::string> shapes;
  CombinationArguments combination;
  OutputOptions output;
};

Result<ExecutionPlan> plan_network(const PlanArguments& arguments, NetworkPlanRequest request) {
  CLVET_ASSIGN_OR_RETURN(Graph graph, read_keyed_onnx(arguments.model, &request.model));
  std::map<std::string, Tensor> values;
  CLVET_ASSIGN_OR_RETURN(auto shapes, read_shapes(arguments.shapes));
  if (arguments.inputs.any()) {
    Notes notes;
    CLVET_ASSIGN_OR_RETURN(values, read_inputs(arguments.inputs, graph, notes));
    say(notes, terminal_sink(arguments.output.quiet));
  }
  return plan_onnx(std::move(graph), std::move(shapes), values, request);
}

Result<ExecutionPlan> make_plan(const PlanArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  std::optional<KeptReport> kept;
  if (arguments.device != "host") {
    const auto beside = std::async(VariantTable::embedded);  // its destructor waits
    CLVET_ASSIGN_OR_RETURN(kept, kept_report(arguments.report, state_dir()));
    if (!kept) {
      return fail(ErrorCode::kUnavailable,
                  "no report of a device yet: run 'clvet probe', or name one with --report");
    }
  }
  NetworkPlanRequest request{kept ? &kept->report : nullptr, arguments.device,
                             arguments.combination.overrides()};
  if (!is_gguf(arguments.model)) return plan_network(arguments, std::move(request));
  CLVET_ASSIGN_OR_RETURN(request.model, sha256_of_file(arguments.model));
  return plan_gguf(arguments.model, request);
}

int run(const PlanArguments& arguments) {
  const auto plan = make_plan(arguments);
  if (!plan) return report_error(plan.error());
  const auto file = plan_document(*plan);
  if (!file) return report_error(file.error());
  const std::string& json = *file;
  Status written = write_document(arguments.output, json);
  if (written && !arguments.out.empty()) written = write_file_atomically(arguments.out, json);
  if (!written) return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") {
    print_text(plan_text(*plan));
  }
  return kExitFine;
}

void add(Verb program, int& exit_code) {
  Verb verb =
      program.add_subcommand("plan", "decide how a model runs on a device, and save the plan");
  auto arguments = std::make_shared<PlanArguments>();
  verb.add_option("model", arguments->model, "ONNX or GGUF file").required().type_name("MODEL");
  verb.add_option("--report", arguments->report,
                  "plan for a device of this report, which may be another machine's\n"
                  "(default: this machine's)")
      .type_name("FILE");
  verb.add_option("--out", arguments->out, "write the plan (clvet.plan/1) to this file")
      .type_name("FILE");
  add_shapes(verb, arguments->shapes);
  add_inputs(verb, arguments->inputs);
  add_device(verb, arguments->device);
  add_combination(verb, arguments->combination, {"auto", "buffer", "image"});
  add_threads(verb);
  add_output(verb, arguments->output, "also write the plan to this file; - is standard output");
  verb.footer(
      "Exit status: 0 a plan was made, 2 wrong usage or a bad file, 3 there is no report, no "
      "device "
      "that\n"
      "--device means, or none that can run the model. clvet plan runs nothing and loads no "
      "driver. 'clvet run --plan' and\n"
      "'clvet generate --plan' take the plan if the report has the same device, driver and "
      "kernels.",
      {"clvet plan cls.onnx --shape x=1x3x48x192",
       "clvet plan det.onnx --input x=page.png --image-size 640x640 --report board.json --out "
       "det.plan.json",
       "clvet run det.onnx --input x=page.png --image-size 640x640 --plan det.plan.json",
       "clvet plan model.gguf --json -"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_plan
