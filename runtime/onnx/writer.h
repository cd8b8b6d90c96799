// Writes graphs as ONNX files.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/graph/graph.h"

namespace clvet {

// A ModelProto: constants are initialisers, inputs and outputs have their types. For graphs as a
// reader makes them: kInternal where a pass has changed what a node does. kUnsupported: more
// constants than the format can hold (2 GiB), or a type that is not known.
Result<std::string> format_onnx(const Graph& graph);

}  // namespace clvet
