#include "runtime/plan/plan.h"
#include <cstddef>
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
#include "cli/model_file.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "reports/render/plan_text.h"
#include "runtime/gguf/file.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/language_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/planner.h"

namespace clvet::command_plan {
namespace {

struct PlanArguments {
  std::string model, report, device = "auto", out;
  InputArguments inputs;
  std::vector<std::string> shapes;
  CombinationArguments combination;
  OutputOptions output;
};

// The graph with all shapes known: by the inputs where they are given, else by --shape.
Result<Graph> network_of(const PlanArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(Graph graph, read_onnx(arguments.model));
  std::map<std::string, Tensor> values;
  CLVET_ASSIGN_OR_RETURN(auto shapes, read_shapes(arguments.shapes));
  if (!arguments.inputs.files.empty()) {
    CLVET_ASSIGN_OR_RETURN(values, read_inputs(arguments.inputs, graph));
    CLVET_RETURN_IF_ERROR(check_inputs(graph, values));
    for (const auto& [name, tensor] : values) shapes[name] = tensor.shape();
  }
  CLVET_RETURN_IF_ERROR(optimise(graph));
  CLVET_ASSIGN_OR_RETURN(graph, specialise(graph, shapes, values));
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (value.type() && checked_elements(*value.shape)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "the extents of input '{}' are open: give --shape {}=1x3x..., or --input",
                value.name, value.name);
  }
  return graph;
}

Result<ExecutionPlan> plan_onnx(const PlanArguments& arguments, const Report* report,
                                const std::string& model) {
  CLVET_ASSIGN_OR_RETURN(const Graph graph, network_of(arguments));
  CLVET_ASSIGN_OR_RETURN(
      NetworkPlan made,
      plan_network_on(graph, {report, arguments.device, arguments.combination.overrides(), model}));
  return std::move(made.plan);
}

Result<ExecutionPlan> plan_gguf(const PlanArguments& arguments, const Report* report,
                                const std::string& model) {
  if (!report) {
    return fail(ErrorCode::kInvalidArgument,
                "--device host: the host runs every language model alike and needs no plan");
  }
  CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  const LlmWeights weights(file, config);
  CLVET_ASSIGN_OR_RETURN(
      PlannedDevices found,
      plan_language_on(config, weights,
                       {*report, arguments.device, arguments.combination.overrides(), model}));
  if (!found.rows.empty()) return std::move(found.rows.front().plan);
  return fail(ErrorCode::kUnavailable, "no device can run the model ({})", found.reason);
}

Result<ExecutionPlan> make_plan(const PlanArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  std::optional<Report> report;
  if (arguments.device != "host") {
    CLVET_ASSIGN_OR_RETURN(report, kept_report(arguments.report));
    if (!report) {
      return fail(ErrorCode::kUnavailable,
                  "no report of a device yet: run 'clvet probe', or name one with --report");
    }
  }
  CLVET_ASSIGN_OR_RETURN(const std::string model, sha256_of_file(arguments.model));
  const Report* found = report ? &*report : nullptr;
  return is_gguf(arguments.model) ? plan_gguf(arguments, found, model)
                                  : plan_onnx(arguments, found, model);
}

// The plan's file, which says all of it: read again, it is the same plan.
Result<std::string> file_of(const ExecutionPlan& plan) {
  std::string json = plan_to_json(plan);
  const auto read = plan_from_json(json, "plan");
  const std::string lost = read ? first_difference(plan, *read) : read.error().message;
  if (!lost.empty()) return fail(ErrorCode::kInternal, "the plan's file would lose: {}", lost);
  return json;
}

int run(const PlanArguments& arguments) {
  const auto plan = make_plan(arguments);
  if (!plan) return report_error(plan.error());
  const auto file = file_of(*plan);
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
