// The values of a graph while it runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// The outputs by name; `values` by value of the graph, constants need not be among them.
std::map<std::string, Tensor> outputs_of(const Graph& graph, std::span<const Tensor> values);

// Each value is let go of when no node reads it any more.
class LiveValues {
 public:
  // The constants and the inputs. The graph must outlive it.
  LiveValues(const Graph& graph, const std::map<std::string, Tensor>& inputs);

  // By value of the graph; what is not there yet, or not any more, is empty.
  const std::vector<Tensor>& all() const { return values_; }
  // The next node has run.
  void take(const Node& node, std::vector<Tensor> outputs);
  std::map<std::string, Tensor> outputs() const { return outputs_of(graph_, values_); }

 private:
  const Graph& graph_;
  std::vector<Tensor> values_;
  std::vector<int> reads_;  // that are left; a graph output counts once more
};

}  // namespace clvet
