// Runs graphs on the CPU. Single nodes: run_node (runtime/ops/contract/op_def.h).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct NodeTiming {
  std::string name, op;
  double ms = 0;
};

// Sees each node's outputs as they are made, in order of execution.
using NodeObserver = std::function<void(const Node& node, std::span<const Tensor> outputs)>;

class HostExecutor {
 public:
  struct Run {
    std::map<std::string, Tensor> outputs;
    std::vector<NodeTiming> nodes;
  };

  explicit HostExecutor(Graph graph) : graph_(std::move(graph)) {}
  const Graph& graph() const { return graph_; }

  // kInvalidArgument names an input that is absent, unknown, of another type or another shape.
  // Shapes may differ from run to run within what the model leaves open.
  Result<Run> run(const std::map<std::string, Tensor>& inputs,
                  const NodeObserver& observer = nullptr) const;

 private:
  Graph graph_;
};

// Checks inputs against the graph's: names, types and shapes.
Status check_inputs(const Graph& graph, const std::map<std::string, Tensor>& inputs);
// The graph's outputs in order, inputs by name. Checks nothing beforehand.
Result<std::vector<Tensor>> run_graph(const Graph& graph,
                                      const std::map<std::string, Tensor>& inputs,
                                      std::vector<NodeTiming>* timings = nullptr,
                                      const NodeObserver& observer = nullptr);

}  // namespace clvet
