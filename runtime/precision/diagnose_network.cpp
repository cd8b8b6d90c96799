#include "runtime/precision/diagnose_network.h"

#include <algorithm>
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
#include "runtime/precision/normalise.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/watch.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

Wiring wiring_of(const Graph& graph) {
  const Links links(graph);
  Wiring wiring;
  for (const Node& node : graph.nodes) {
    std::vector<Wire>& wires = wiring.emplace_back();
    for (const ValueId in : node.inputs) {
      Wire& wire = wires.emplace_back();
      if (in == kNoValue) continue;
      wire.value = graph.values[static_cast<size_t>(in)].name;
      wire.from = links.producer[static_cast<size_t>(in)];
      wire.constant = graph.constant(in) != nullptr;
      const auto given = std::find(graph.inputs.begin(), graph.inputs.end(), in);
      if (!wire.constant && given != graph.inputs.end())
        wire.given = static_cast<int>(given - graph.inputs.begin());
    }
  }
  return wiring;
}

class NetworkModel : public DiagnosedModel {
 public:
  NetworkModel(const Graph& graph, const std::vector<CalibrationInput>& inputs,
               const DiagnoseOptions& options)
      : graph_(graph),
        inputs_(inputs),
        target_(options.target),
        emulation_(graph, {options.format, options.policy == Policy::kEngine}),
        wiring_(wiring_of(graph)) {}

  const Emulation& emulation() const { return emulation_; }
  OutputsByInput references() const { return references_; }
  size_t inputs() const override { return inputs_.size(); }
  const Wiring& wiring() const override { return wiring_; }
  std::vector<DiagnosedNode> nodes() const override {
    std::vector<DiagnosedNode> nodes;
    for (const Node& node : graph_.nodes) nodes.push_back({node.name, node.op});
    return nodes;
  }

  Result<Look> look(size_t input) override {
    CLVET_ASSIGN_OR_RETURN(Watched watched, watch(emulation_, inputs_[input].values));
    DiagnosedInput row = judged(input, watched.low, watched.reference);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      row.ranges[graph_.values[static_cast<size_t>(graph_.inputs[i])].name] =
          watched.seen.inputs[i];
    }
    references_.push_back(std::move(watched.reference));
    return Look{std::move(row), std::move(watched.seen)};
  }

  Result<DiagnosedInput> with(const Raised& raised, size_t input) override {
    CLVET_ASSIGN_OR_RETURN(const auto outputs, emulation_.run(inputs_[input].values, raised));
    return judged(input, outputs, references_[input]);
  }

 private:
  DiagnosedInput judged(size_t input, const std::map<std::string, Tensor>& outputs,
                        const std::map<std::string, Tensor>& reference) const {
    DiagnosedInput row;
    row.name = inputs_[input].name;
    row.outputs = compare_outputs(outputs, reference);
    row.right = all_right(row.outputs, target_);
    return row;
  }

  const Graph& graph_;
  const std::vector<CalibrationInput>& inputs_;
  double target_;
  Emulation emulation_;
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
  return specialise(prepared, shapes_of(inputs));
}

Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options) {
  if (inputs.empty())
    return fail(ErrorCode::kInvalidArgument, "there is no input to diagnose with");
  for (const CalibrationInput& input : inputs) {
    if (const Status fits = check_inputs(graph, input.values); !fits)
      return wrap(fits.error(), input.name);
  }
  CLVET_ASSIGN_OR_RETURN(const Graph prepared,
                         prepared_for(options.policy, graph, inputs.front().values));
  NetworkModel model(prepared, inputs, options);
  CLVET_ASSIGN_OR_RETURN(PrecisionDiagnosis found, diagnose_model(model, options));
  CLVET_RETURN_IF_ERROR(ask_float64(prepared, inputs, model.references(), found));
  if (!found.plan) return found;
  CLVET_ASSIGN_OR_RETURN(found.normalising, try_normalising(model.emulation(), inputs, found));
  found.plan->in_file = file_nodes_of(graph, prepared, found.plan->raised);
  CLVET_ASSIGN_OR_RETURN(found.plan->advice, engine_advice(options.format, found.plan->in_file));
  return found;
}

}  // namespace clvet
