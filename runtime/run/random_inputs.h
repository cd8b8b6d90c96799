// Inputs of a network where nobody gives any.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// Floats from -1 to 1, integers and booleans 0 or 1; the same for the same seed. `shapes` go before
// the model's own. kInvalidArgument: a shape of no input, or an input whose type or extents are
// still open.
Result<std::map<std::string, Tensor>> random_inputs(const Graph& graph,
                                                    const std::map<std::string, Shape>& shapes,
                                                    uint64_t seed);

// `count` numbers of tokens below `vocabulary`, which is above 0.
std::vector<int32_t> random_tokens(int64_t count, int64_t vocabulary, uint64_t seed);

}  // namespace clvet
