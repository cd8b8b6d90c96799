#include "runtime/onnx/writer.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

// What protobuf takes, less room for names and shapes.
constexpr size_t kMostConstants = (size_t{1} << 31) - (size_t{64} << 20);

// The oldest version of the format for a version of ONNX's own operator set: the table of
// onnx/docs/Versioning.md.
int64_t ir_version_of(int64_t opset) {
  struct Row {
    int64_t opset, ir;
  };
  constexpr Row kRows[] = {{19, 8}, {21, 9}, {23, 10}, {24, 11}, {25, 12}};
  for (const Row& row : kRows)
    if (opset < row.opset) return row.ir;
  return 13;
}

using Names = std::vector<std::string>;  // by value of the graph

Names names_of(const Graph& graph) {
  Names names;
  for (const Value& value : graph.values) names.push_back(value.name);
  return names;
}

void fill(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto) {
  proto.set_name(name);
  proto.set_data_type(static_cast<int32_t>(onnx_of_dtype(tensor.dtype())));
  for (const int64_t extent : tensor.shape()) proto.add_dims(extent);
  proto.set_raw_data(tensor.raw(), tensor.bytes());
}

// As much of the type as is known: what a loop carries may have another shape each time.
void declare(const Value& value, onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  if (!value.dtype) return;
  auto* type = proto.mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int32_t>(onnx_of_dtype(*value.dtype)));
  if (!value.shape) return;
  type->mutable_shape();
  for (const int64_t extent : *value.shape) {
    auto* dim = type->mutable_shape()->add_dim();
    if (extent >= 0) dim->set_dim_value(extent);
  }
}

Status fill(const Value& value, onnx::ValueInfoProto& proto) {
  const auto known = value.constant ? value.constant->type() : value.type();
  if (!known)
    return fail(ErrorCode::kUnsupported, "the type of the value '{}' is not known", value.name);
  declare({value.name, known->dtype, known->shape, {}}, proto);
  return {};
}

Status fill_nodes(const Graph& graph, const Names& names, onnx::GraphProto& proto);

// A subgraph reads what the node captures under the names of the graph around it.
Status fill_subgraph(const Graph& graph, const Node& owner, const Names& outer,
                     onnx::GraphProto& proto) {
  Names names = names_of(graph);
  const size_t own = graph.inputs.size() - graph.captures.size();
  for (size_t i = 0; i < graph.captures.size(); ++i) {
    const auto slot = static_cast<size_t>(graph.captures[i]);
    names[static_cast<size_t>(graph.inputs[own + i])] =
        outer[static_cast<size_t>(owner.inputs[slot])];
  }
  for (size_t i = 0; i < own; ++i)
    declare(graph.values[static_cast<size_t>(graph.inputs[i])], *proto.add_input());
  CLVET_RETURN_IF_ERROR(fill_nodes(graph, names, proto));
  for (const ValueId out : graph.outputs)
    proto.add_output()->set_name(names[static_cast<size_t>(out)]);
  return {};
}

// By kind of attribute, as attribute.h names them; the numbers are onnx.proto's.
void fill_simple(const Attribute& attribute, onnx::AttributeProto& proto) {
  if (const auto* f = attribute.get_if<double>()) {
    proto.set_type(1);
    proto.set_f(static_cast<float>(*f));
  } else if (const auto* i = attribute.get_if<int64_t>()) {
    proto.set_type(2);
    proto.set_i(*i);
  } else if (const auto* s = attribute.get_if<std::string>()) {
    proto.set_type(3);
    proto.set_s(*s);
  } else if (const auto* t = attribute.get_if<Tensor>()) {
    proto.set_type(4);
    fill(*t, {}, *proto.mutable_t());
  } else if (const auto* floats = attribute.get_if<std::vector<double>>()) {
    proto.set_type(6);
    for (const double value : *floats) proto.add_floats(static_cast<float>(value));
  } else if (const auto* ints = attribute.get_if<std::vector<int64_t>>()) {
    proto.set_type(7);
    for (const int64_t value : *ints) proto.add_ints(value);
  } else if (const auto* strings = attribute.get_if<std::vector<std::string>>()) {
    proto.set_type(8);
    for (const std::string& value : *strings) proto.add_strings(value);
  }
}

Status fill(const Node& node, const Names& names, onnx::NodeProto& proto) {
  if (node.activation.act != Act::kNone)
    return fail(ErrorCode::kInternal, "{} holds an activation", node.label());
  proto.set_name(node.name);
  proto.set_op_type(node.op);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  const size_t own = node.inputs.size() - node.captured;
  const auto name_of = [&](ValueId id) {
    return id == kNoValue ? std::string() : names[static_cast<size_t>(id)];
  };
  for (size_t i = 0; i < own; ++i) proto.add_input(name_of(node.inputs[i]));
  for (const ValueId out : node.outputs) proto.add_output(name_of(out));
  for (const auto& [name, attribute] : node.attributes) {
    auto& row = *proto.add_attribute();
    row.set_name(name);
    fill_simple(attribute, row);
    const auto* graph = attribute.get_if<std::shared_ptr<const Graph>>();
    if (!graph) continue;
    row.set_type(5);
    row.mutable_g()->set_name(name);
    CLVET_RETURN_IF_ERROR(fill_subgraph(**graph, node, names, *row.mutable_g()));
  }
  return {};
}

Status fill_nodes(const Graph& graph, const Names& names, onnx::GraphProto& proto) {
  for (size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].constant)
      fill(*graph.values[i].constant, names[i], *proto.add_initializer());
  for (const Node& node : graph.nodes) CLVET_RETURN_IF_ERROR(fill(node, names, *proto.add_node()));
  return {};
}

void add_opsets(const Graph& graph, std::map<std::string, int>& versions) {
  for (const Node& node : graph.nodes) {
    versions[node.domain] = node.opset;
    for (const auto& [name, inner] : node.graphs()) add_opsets(*inner, versions);
  }
}

size_t constants_of(const Graph& graph) {
  size_t bytes = 0;
  for (const Value& value : graph.values) bytes += value.constant ? value.constant->bytes() : 0;
  for (const Node& node : graph.nodes)
    for (const auto& [name, inner] : node.graphs()) bytes += constants_of(*inner);
  return bytes;
}

Status check_size(const Graph& graph) {
  const size_t bytes = constants_of(graph);
  if (bytes <= kMostConstants) return {};
  return fail(ErrorCode::kUnsupported,
              "its constants have {} bytes, and an ONNX file holds less than 2 GiB", bytes);
}

}  // namespace

Result<std::string> format_onnx(const Graph& graph) {
  CLVET_RETURN_IF_ERROR(check_size(graph));
  onnx::ModelProto model;
  std::map<std::string, int> versions;
  add_opsets(graph, versions);
  model.set_ir_version(ir_version_of(versions.contains("") ? versions[""] : 1));
  model.set_producer_name("clvet");
  for (const auto& [domain, version] : versions) {
    auto& row = *model.add_opset_import();
    row.set_domain(domain);
    row.set_version(version);
  }
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  for (const ValueId in : graph.inputs)
    CLVET_RETURN_IF_ERROR(fill(graph.values[static_cast<size_t>(in)], *proto.add_input()));
  for (const ValueId out : graph.outputs)
    CLVET_RETURN_IF_ERROR(fill(graph.values[static_cast<size_t>(out)], *proto.add_output()));
  CLVET_RETURN_IF_ERROR(fill_nodes(graph, names_of(graph), proto));
  return model.SerializeAsString();
}

}  // namespace clvet
