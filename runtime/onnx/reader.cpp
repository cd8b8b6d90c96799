#include "runtime/onnx/reader.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/external_data.h"
#include "runtime/onnx/functions.h"
#include "runtime/onnx/graph_builder.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/tensor_reader.h"

namespace clvet {
namespace {

constexpr size_t kMaxFile = (size_t{1} << 31) - 1;  // protobuf's own limit

Result<OpsetVersions> opsets_of(const onnx::ModelProto& model) {
  OpsetVersions versions;
  for (const auto& import : model.opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    if (import.version() < 1 || import.version() > 10000) {
      return fail(ErrorCode::kInvalidArgument, "the operator set version {} is not valid",
                  import.version());
    }
    versions[domain] = static_cast<int>(import.version());
  }
  if (!versions.contains("") && versions.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "it names no operator set and may not be an ONNX model; export it again");
  }
  return versions;
}

Result<Graph> build(onnx::ModelProto& model, const OnnxOptions& options, ExternalData& files) {
  if (!model.has_graph()) {
    return fail(ErrorCode::kInvalidArgument,
                "it has no graph; it is not an ONNX model or is incomplete");
  }
  CLVET_ASSIGN_OR_RETURN(OpsetVersions opsets, opsets_of(model));
  CLVET_RETURN_IF_ERROR(expand_functions(model, opsets));
  CLVET_ASSIGN_OR_RETURN(Graph graph, build_graph(model.graph(), opsets, options, files));
  for (const auto& entry : model.metadata_props()) graph.metadata[entry.key()] = entry.value();
  return graph;
}

// One line without control characters, whatever names the file holds.
tl::unexpected<Error> in_file(Error error, const std::string& name) {
  error.message = one_line(error.message, 600);
  return wrap(std::move(error), name);
}

Result<Graph> parse(std::string_view bytes, const std::string& name, const OnnxOptions& options,
                    ExternalData& files) {
  if (bytes.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: the file is empty; export the model again", name);
  }
  if (bytes.size() > kMaxFile) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the file is larger than 2 GiB, which is too large for ONNX", name);
  }
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: not an ONNX model, or incomplete ({} bytes); fetch or export it again", name,
                bytes.size());
  }
  auto graph = build(model, options, files);
  if (!graph) return in_file(graph.error(), name);
  return graph;
}

}  // namespace

Result<Graph> parse_onnx(std::string_view bytes, const std::string& name,
                         const OnnxOptions& options) {
  ExternalData none;
  return parse(bytes, name, options, none);
}

Result<Graph> read_onnx(const std::string& path, const OnnxOptions& options) {
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFile));
  ExternalData files(path);
  return parse(bytes, path, options, files);
}

Result<Graph> read_keyed_onnx(const std::string& path, std::string* key) {
  if (!key) return read_onnx(path);
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFile));
  ExternalData files(path);
  Sha256 weights;
  files.add_to(weights);
  CLVET_ASSIGN_OR_RETURN(Graph graph, parse(bytes, path, {}, files));
  *key = sha256_hex(bytes);
  if (files.was_read()) *key = Sha256().add_field(*key).add_field(weights.hex()).hex();
  return graph;
}

Result<Tensor> read_onnx_tensor(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFile));
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kInvalidArgument, "{}: not an ONNX tensor", path);
  }
  auto tensor = tensor_of(proto);
  if (!tensor) return in_file(tensor.error(), path);
  return tensor;
}

}  // namespace clvet
