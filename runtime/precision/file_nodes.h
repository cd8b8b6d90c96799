// The nodes of a file that a prepared graph's nodes compute.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/precision/engine_advice.h"

namespace clvet {

// Those nodes of `file` that do what the named nodes of `prepared` do, which was made from it by
// passes (runtime/graph/passes.h) and folding; in the order of the file. Of nodes that were joined,
// all are named but those whose values are constant.
std::vector<FileNode> file_nodes_of(const Graph& file, const Graph& prepared,
                                    std::span<const std::string> names);

}  // namespace clvet
