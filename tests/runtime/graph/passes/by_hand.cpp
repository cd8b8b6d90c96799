#include "tests/runtime/graph/passes/by_hand.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet::test {

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

Graph folded(const ModelBuilder& model) {
  Graph graph = model.build();
  const Status done = infer_and_fold(graph);
  EXPECT_TRUE(done) << done.error().message;
  return graph;
}

std::vector<std::string> ops_gathered(const ModelBuilder& model, void (*gather)(Graph&),
                                      bool has_levels) {
  Graph graph = folded(model);
  EXPECT_TRUE(optimise(graph));
  graph.has_levels = has_levels;
  gather(graph);
  return ops_of(graph);
}

std::vector<std::string> ops_after(const ModelBuilder& model, void (*run)(Graph&),
                                   const std::map<std::string, Tensor>& inputs, const Tensor& want,
                                   double relative) {
  Graph one = folded(model), all = model.build();
  run(one);
  const Status optimised = optimise(all);
  EXPECT_TRUE(optimised) << optimised.error().message;
  for (const Graph& graph : {model.build(), one, all}) {
    const auto got = run_graph(graph, inputs);
    EXPECT_TRUE(got) << got.error().message;
    if (got) expect_near(got->front(), want, relative);
  }
  return ops_of(one);
}

}  // namespace clvet::test
