// Reads ONNX files into graphs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct OnnxOptions {
  // Keep nodes of unknown operators (def = nullptr) in place of refusing the model, so that a check
  // can list all of them. A node with such a node in one of its subgraphs is kept like them.
  bool allow_unknown_ops = false;
};

// The graph as the file has it: nodes ordered, Constant nodes and initialisers as they are, nothing
// folded. Weights may lie in other files of the model's folder. Every fault is one line that names
// the file, what is wrong and what to do.
Result<Graph> read_onnx(const std::string& path, const OnnxOptions& options = {});
// The same. `key`, if not null, gets what caches, plans and measured times know the model by: the
// SHA-256 of the file; where weights lie in other files, that of the file's and of all bytes that
// were read of those. Nothing is read twice for it.
Result<Graph> read_keyed_onnx(const std::string& path, std::string* key);
// The same from memory, with all weights inside; `name` stands for the file in messages.
Result<Graph> parse_onnx(std::string_view bytes, const std::string& name,
                         const OnnxOptions& options = {});

// A file that holds one serialised TensorProto, as the ONNX node tests do.
Result<Tensor> read_onnx_tensor(const std::string& path);

}  // namespace clvet
