#include "runtime/precision/diagnose_network.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/precision/answer.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/engine_advice.h"
#include "runtime/precision/file_nodes.h"
#include "runtime/precision/float_fault.h"
#include "runtime/precision/graph_wiring.h"
#include "runtime/precision/normalise.h"
#include "runtime/precision/raised_runs.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

class NetworkModel : public DiagnosedModel {
 public:
  NetworkModel(const Graph& graph, const std::vector<CalibrationInput>& inputs,
               const DiagnoseOptions& options)
      : graph_(graph),
        inputs_(inputs),
        target_(options.target),
        emulation_(graph, {options.format, options.policy == Policy::kEngine}),
        runs_(emulation_),
        wiring_(wiring_of(graph)) {}

  const Emulation& emulation() const { return emulation_; }
  OutputsByInput references() const { return references_; }
  size_t inputs() const override { return inputs_.size(); }
  const Wiring& wiring() const override { return wiring_; }
  std::vector<DiagnosedNode> nodes() const override { return nodes_of(graph_); }

  Result<Look> look(size_t input) override {
    CLVET_ASSIGN_OR_RETURN(Watched watched, watch(emulation_, inputs_[input].values));
    DiagnosedInput row = judged(inputs_[input].name, watched.low, watched.reference, target_);
    row.ranges = ranges_of(graph_, watched.seen.inputs);
    if (!row.right && watched.before) runs_.offer(input, *watched.before);
    references_.push_back(std::move(watched.reference));
    return Look{std::move(row), std::move(watched.seen)};
  }

  Result<DiagnosedInput> with(const Raised& raised, size_t input, Detail) override {
    CLVET_ASSIGN_OR_RETURN(const auto outputs, runs_.run(input, inputs_[input].values, raised));
    return judged(inputs_[input].name, outputs, references_[input], target_);
  }

 private:
  const Graph& graph_;
  const std::vector<CalibrationInput>& inputs_;
  double target_;
  Emulation emulation_;
  RaisedRuns runs_;
  Wiring wiring_;
  std::vector<std::map<std::string, Tensor>> references_;  // by input
};

Status ask_float64(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                   OutputsByInput references, PrecisionDiagnosis& found) {
  CLVET_ASSIGN_OR_RETURN(found.float_fault, find_float_fault(graph, inputs, references, found));
  if (!found.float_fault) return {};
  for (const int index : found.float_fault->inputs) {
    const auto i = static_cast<size_t>(index);
    found.inputs[i].in_float32 = false;
    if (found.plan) found.plan->after[i].in_float32 = false;
  }
  return {};
}

}  // namespace

Result<Graph> prepared_for(Policy policy, const Graph& graph,
                           const std::map<std::string, Tensor>& inputs) {
  Graph prepared = graph;
  if (policy == Policy::kEngine) CLVET_RETURN_IF_ERROR(optimise(prepared));
  CLVET_ASSIGN_OR_RETURN(prepared, specialise(prepared, shapes_of(inputs)));
  if (policy == Policy::kEngine) CLVET_RETURN_IF_ERROR(optimise(prepared));
  return prepared;
}

Result<Graph> prepare_for_diagnosis(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                                    Policy policy) {
  if (inputs.empty())
    return fail(ErrorCode::kInvalidArgument, "there is no input to diagnose with");
  for (const CalibrationInput& input : inputs) {
    if (const Status fits = check_inputs(graph, input.values); !fits)
      return wrap(fits.error(), input.name);
  }
  return prepared_for(policy, graph, inputs.front().values);
}

std::vector<DiagnosedNode> nodes_of(const Graph& graph) {
  std::vector<DiagnosedNode> nodes;
  for (const Node& node : graph.nodes) nodes.push_back({node.name, node.op});
  return nodes;
}

std::map<std::string, ValueRange> ranges_of(const Graph& graph,
                                            const std::vector<ValueRange>& inputs) {
  std::map<std::string, ValueRange> ranges;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    ranges[graph.values[static_cast<size_t>(graph.inputs[i])].name] = inputs[i];
  return ranges;
}

DiagnosedInput judged(const std::string& name, const std::map<std::string, Tensor>& outputs,
                      const std::map<std::string, Tensor>& reference, double target) {
  DiagnosedInput row;
  row.name = name;
  row.outputs = compare_outputs(outputs, reference);
  row.right = all_right(row.outputs, target);
  return row;
}

Status advise(const Graph& graph, const Graph& prepared, const DiagnoseOptions& options,
              PrecisionPlan& plan) {
  plan.in_file = file_nodes_of(graph, prepared, plan.raised);
  CLVET_ASSIGN_OR_RETURN(plan.advice, engine_advice(options.format, plan.in_file));
  return {};
}

Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options) {
  CLVET_ASSIGN_OR_RETURN(const Graph prepared,
                         prepare_for_diagnosis(graph, inputs, options.policy));
  NetworkModel model(prepared, inputs, options);
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found, diagnose_model(model, options));
  CLVET_RETURN_IF_ERROR(ask_float64(prepared, inputs, model.references(), found));
  if (!found.plan) return found;
  CLVET_ASSIGN_OR_RETURN(found.normalising, try_normalising(model.emulation(), inputs, found));
  CLVET_RETURN_IF_ERROR(advise(graph, prepared, options, *found.plan));
  return found;
}

}  // namespace clvet
