#include "runtime/precision/failing_part.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/part.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/engine_advice.h"
#include "runtime/precision/file_nodes.h"

namespace clvet {
namespace {

// The nodes that the origin is about, as the diagnosis names them.
std::vector<std::string> names_in(const ErrorOrigin& origin) {
  std::vector<std::string> names;
  if (origin.node >= 0) names.push_back(origin.name);
  if (!origin.made_by.empty()) names.push_back(origin.made_by);
  if (!origin.shows.empty()) names.push_back(origin.shows.front());
  return names;
}

class PartSearch {
 public:
  PartSearch(const Graph& file, const CalibrationInput& input, const ErrorOrigin& origin,
             const DiagnoseOptions& options)
      : file_(file), input_(input), origin_(origin), options_(options) {
    options_.sink = nullptr;
  }

  Result<FailingPart> run() {
    CLVET_ASSIGN_OR_RETURN(naive_, prepared_for(Policy::kNaive, file_, input_.values));
    CLVET_ASSIGN_OR_RETURN(NodeSet nodes, first_nodes());
    for (int layers = 1;; layers *= 2) {
      close_ways(naive_, nodes);
      CLVET_ASSIGN_OR_RETURN(FailingPart part, cut(nodes));
      CLVET_ASSIGN_OR_RETURN(const bool shows, shows_it(part));
      if (shows) return part;
      bool grown = false;
      for (int i = 0; i < layers; ++i) grown |= add_readers(naive_, nodes);
      if (!grown) break;
    }
    return fail(ErrorCode::kNotFound,
                "no part of the network shows the error of '{}' by itself; the network does",
                origin_.name);
  }

 private:
  Result<NodeSet> first_nodes() const {
    CLVET_ASSIGN_OR_RETURN(const Graph prepared,
                           prepared_for(options_.policy, file_, input_.values));
    std::set<std::string> names;
    const std::vector<std::string> wanted = names_in(origin_);
    for (const FileNode& node : file_nodes_of(file_, prepared, wanted)) names.insert(node.name);
    NodeSet nodes;
    for (const Node& node : naive_.nodes) nodes.push_back(names.contains(node.name));
    return nodes;
  }

  Result<FailingPart> cut(const NodeSet& nodes) const {
    FailingPart part{part_of(naive_, nodes), input_.name, {}, {}};
    CLVET_RETURN_IF_ERROR(fill_inputs(part));
    for (const ValueId id : part.graph.inputs) declare(part.inputs, id, part.graph);
    HostExecutor executor(part.graph);
    CLVET_ASSIGN_OR_RETURN(auto run, executor.run(part.inputs));
    part.outputs = std::move(run.outputs);
    for (const ValueId id : part.graph.outputs) declare(part.outputs, id, part.graph);
    return part;
  }

  static void declare(const std::map<std::string, Tensor>& values, ValueId id, Graph& graph) {
    Value& value = graph.values[static_cast<size_t>(id)];
    const Tensor& tensor = values.at(value.name);
    value.dtype = tensor.dtype();
    value.shape = tensor.shape();
  }

  // Runs the network, and keeps what enters the part.
  Status fill_inputs(FailingPart& part) const {
    std::set<std::string_view> wanted;
    for (const ValueId id : part.graph.inputs)
      wanted.insert(part.graph.values[static_cast<size_t>(id)].name);
    const auto keep = [&](const std::string& name, const Tensor& tensor) {
      if (wanted.contains(name)) part.inputs.insert_or_assign(name, tensor);
    };
    for (const auto& [name, tensor] : input_.values) keep(name, tensor);
    return run_graph(naive_, input_.values, nullptr,
                     [&](const Node& node, std::span<const Tensor> outputs) {
                       for (size_t i = 0; i < std::min(outputs.size(), node.outputs.size()); ++i)
                         if (node.outputs[i] != kNoValue)
                           keep(naive_.values[static_cast<size_t>(node.outputs[i])].name,
                                outputs[i]);
                     })
        .map([](const std::vector<Tensor>&) {});
  }

  Result<bool> shows_it(const FailingPart& part) const {
    CLVET_ASSIGN_OR_RETURN(const PrecisionDiagnosis found,
                           diagnose_network(part.graph, {{part.input, part.inputs}}, options_));
    return std::any_of(found.origins.begin(), found.origins.end(), [this](const ErrorOrigin& one) {
      return one.name == origin_.name && one.op == origin_.op &&
             one.blame.fault == origin_.blame.fault && one.blame.value == origin_.blame.value;
    });
  }

  const Graph& file_;
  const CalibrationInput& input_;
  const ErrorOrigin& origin_;
  DiagnoseOptions options_;
  Graph naive_;
};

}  // namespace

Result<FailingPart> failing_part(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                                 const PrecisionDiagnosis& found, const DiagnoseOptions& options) {
  if (found.origins.empty() || found.origins.front().inputs.empty())
    return fail(ErrorCode::kNotFound, "no single node is the cause: there is no part to save");
  const ErrorOrigin& origin = found.origins.front();
  const auto input = static_cast<size_t>(origin.inputs.front());
  return PartSearch(graph, inputs[input], origin, options).run();
}

}  // namespace clvet
