// GraphProto to Graph, subgraphs included.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/onnx/external_data.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"

namespace clvet {

using OpsetVersions = std::map<std::string, int>;  // by domain, "" is ONNX itself

Result<Graph> build_graph(const onnx::GraphProto& proto, const OpsetVersions& opsets,
                          const OnnxOptions& options, ExternalData& files);

}  // namespace clvet
