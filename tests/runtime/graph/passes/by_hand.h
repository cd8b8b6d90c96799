// What tests of single passes share: a model through a pass and through all of them, against values
// worked out by hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/model_builder.h"

namespace clvet::test {

std::vector<std::string> ops_of(const Graph& graph);

// As it is before the first pass.
Graph folded(const ModelBuilder& model);

// The ops that a pass which gathers steps leaves of an optimised graph, with levels or without.
std::vector<std::string> ops_gathered(const ModelBuilder& model, void (*gather)(Graph&),
                                      bool has_levels);

// The ops that `run` leaves; the model's one output must be `want` as read, after the pass and
// after all passes. Sums of a few small numbers: a few roundings of float at most.
std::vector<std::string> ops_after(const ModelBuilder& model, void (*run)(Graph&),
                                   const std::map<std::string, Tensor>& inputs, const Tensor& want,
                                   double relative = 1e-6);

}  // namespace clvet::test
