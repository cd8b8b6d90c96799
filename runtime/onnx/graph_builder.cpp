#include "runtime/onnx/graph_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/external_data.h"
#include "runtime/onnx/old_operators.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/tensor_reader.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

constexpr size_t kLongestName = 1 << 16;

// Builds one graph. A subgraph's builder knows the one around it: a name that the subgraph does not
// make becomes an input of the subgraph and of the node that owns it.
class Builder {
 public:
  Builder(const onnx::GraphProto& proto, const OpsetVersions& opsets, const OnnxOptions& options,
          ExternalData& files, Builder* outer)
      : proto_(proto), opsets_(opsets), options_(options), files_(files), outer_(outer) {}

  Result<Graph> build() {
    graph_.name = proto_.name();
    CLVET_RETURN_IF_ERROR(declare_initialisers());
    CLVET_RETURN_IF_ERROR(declare_inputs());
    CLVET_RETURN_IF_ERROR(declare_node_outputs());
    for (const auto& node : proto_.node()) CLVET_RETURN_IF_ERROR(add_node(node));
    if (proto_.output().empty())
      return fail(ErrorCode::kInvalidArgument, "the graph has no output");
    for (const auto& output : proto_.output()) {
      const ValueId id = resolve(output.name());
      if (id == kNoValue) {
        return fail(ErrorCode::kInvalidArgument, "no node computes the output '{}'", output.name());
      }
      graph_.outputs.push_back(id);
      if (outer_) keep_declared(output, graph_.values[id]);
    }
    CLVET_RETURN_IF_ERROR(sort_topologically(graph_));
    return std::move(graph_);
  }

  // Names that the finished subgraph takes from outside, in the order of its inputs.
  const std::vector<std::string>& captures() const { return captures_; }

 private:
  Result<ValueId> declare(const std::string& name) {
    if (name.empty()) return fail(ErrorCode::kInvalidArgument, "a value has no name");
    const auto id = static_cast<ValueId>(graph_.values.size());
    if (!names_.emplace(name, id).second) {
      return fail(ErrorCode::kInvalidArgument, "the name '{}' is used twice", name);
    }
    return add_value(name);
  }

  // Under a name that can be printed: one line of UTF-8 without control characters.
  ValueId add_value(const std::string& name) {
    const std::string clean = one_line(name, kLongestName);
    renamed_ |= clean != name;
    return graph_.add_value(renamed_ ? graph_.unique_name(clean) : clean);
  }

  Status declare_initialisers() {
    for (const auto& proto : proto_.initializer()) {
      auto tensor = tensor_of(proto, files_);
      if (!tensor)
        return fail(tensor.error().code, "initialiser '{}': {}", proto.name(),
                    tensor.error().message);
      CLVET_ASSIGN_OR_RETURN(const ValueId id, declare(proto.name()));
      graph_.values[id].dtype = tensor->dtype();
      graph_.values[id].shape = tensor->shape();
      graph_.values[id].constant = std::move(*tensor);
    }
    return {};
  }

  Status declare_inputs() {
    for (const auto& proto : proto_.input()) {
      // Before IR version 4 every initialiser is listed as an input, too.
      const auto found = names_.find(proto.name());
      if (found != names_.end() && graph_.constant(found->second)) continue;
      CLVET_ASSIGN_OR_RETURN(const ValueId id, declare(proto.name()));
      CLVET_RETURN_IF_ERROR(set_type(proto, graph_.values[id]));
      graph_.inputs.push_back(id);
    }
    return {};
  }

  Status set_type(const onnx::ValueInfoProto& proto, Value& value) {
    if (outer_ && !proto.has_type()) return {};  // what a loop carries may have any
    if (!proto.type().has_tensor_type()) {
      return fail(ErrorCode::kUnsupported, "input '{}' is not a tensor", proto.name());
    }
    const auto& type = proto.type().tensor_type();
    value.dtype = dtype_of_onnx(type.elem_type());
    if (!value.dtype) {
      return fail(ErrorCode::kUnsupported,
                  "input '{}' has the ONNX element type {}, which is not supported", proto.name(),
                  type.elem_type());
    }
    if (!type.has_shape()) return {};
    Shape shape;
    for (const auto& dim : type.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() < -1) {
        return fail(ErrorCode::kInvalidArgument, "input '{}' has the negative extent {}",
                    proto.name(), dim.dim_value());
      }
      // Some exporters write -1 for an open extent.
      shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
      value.extent_names.push_back(name_of_extent(dim.dim_param()));
    }
    value.shape = std::move(shape);
    return {};
  }

  // Some exporters write a word that says nothing in place of a name.
  static std::string name_of_extent(const std::string& text) {
    const bool says_something = text != "None" && text != "none" && text != "unk" &&
                                text.find_first_not_of("?-_ 0123456789") != std::string::npos;
    return says_something ? one_line(text, kLongestName) : "";
  }

  // What a loop makes of no trips has the type that its body's output is said to have.
  static void keep_declared(const onnx::ValueInfoProto& proto, Value& value) {
    const auto& type = proto.type().tensor_type();
    if (value.dtype || !dtype_of_onnx(type.elem_type())) return;
    value.dtype = dtype_of_onnx(type.elem_type());
    if (!type.has_shape()) return;
    value.shape.emplace();
    for (const auto& dim : type.shape().dim())
      value.shape->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  }

  Status declare_node_outputs() {
    for (const auto& node : proto_.node()) {
      for (const std::string& name : node.output()) {
        if (!name.empty()) CLVET_RETURN_IF_ERROR(declare(name).map([](ValueId) {}));
      }
    }
    return {};
  }

  bool visible(const std::string& name) const {
    return names_.contains(name) || (outer_ && outer_->visible(name));
  }

  ValueId resolve(const std::string& name) {
    if (const auto found = names_.find(name); found != names_.end()) return found->second;
    if (!outer_ || !outer_->visible(name)) return kNoValue;
    const ValueId id = add_value(name);
    names_.emplace(name, id);
    graph_.inputs.push_back(id);
    captures_.push_back(name);
    return id;
  }

  Result<int> opset_of(const onnx::NodeProto& proto, const std::string& domain) const {
    const auto found = opsets_.find(domain);
    if (found != opsets_.end()) return found->second;
    if (!domain.empty()) return 1;
    return fail(
        ErrorCode::kInvalidArgument,
        "the operator {} needs the ONNX operator set, but the model does not name its version",
        proto.op_type());
  }

  std::string unique_node_name(const onnx::NodeProto& proto) {
    std::string stem = proto.name();
    if (stem.empty()) stem = proto.output_size() ? proto.output(0) : proto.op_type();
    stem = one_line(stem, kLongestName);
    std::string name = stem;
    for (int i = 1; !node_names_.insert(name).second; ++i) name = stem + "#" + std::to_string(i);
    return name;
  }

  Status add_node(const onnx::NodeProto& proto) {
    Node node;
    node.name = unique_node_name(proto);
    node.op = one_line(proto.op_type());
    node.domain = proto.domain() == "ai.onnx" ? "" : one_line(proto.domain());
    auto status = fill_node(proto, node);
    if (!status) return at_node(status.error(), node);
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  Status fill_node(const onnx::NodeProto& proto, Node& node) {
    CLVET_ASSIGN_OR_RETURN(node.opset, opset_of(proto, node.domain));
    for (const std::string& name : proto.input()) {
      const ValueId id = name.empty() ? kNoValue : resolve(name);
      if (id == kNoValue && !name.empty()) {
        return fail(ErrorCode::kInvalidArgument, "it reads '{}', which no node computes", name);
      }
      node.inputs.push_back(id);
    }
    for (const std::string& name : proto.output()) {
      node.outputs.push_back(name.empty() ? kNoValue : names_.at(name));
    }
    for (const auto& attribute : proto.attribute()) {
      auto status = add_attribute(attribute, node);
      if (!status)
        return fail(status.error().code, "attribute '{}': {}", attribute.name(),
                    status.error().message);
    }
    const auto axis = modernise(node);
    if (!axis) return options_.allow_unknown_ops ? Status() : tl::unexpected<Error>(axis.error());
    if (*axis && node.inputs.size() > 1) align(node, **axis);
    return find_definition(node);
  }

  // Input 1 begins at that axis of input 0.
  void align(Node& node, int64_t axis) {
    Node aligned;
    aligned.name = node.name + "/" + std::string(kAlignedToAxis);
    while (!node_names_.insert(aligned.name).second) aligned.name += "#";
    aligned.op = kAlignedToAxis;
    aligned.domain = kStepsDomain;
    aligned.opset = 1;
    aligned.def = find_op(kStepsDomain, kAlignedToAxis);
    aligned.inputs = {node.inputs[1], node.inputs[0]};
    aligned.attributes["axis"] = axis;
    aligned.outputs = {graph_.add_value(graph_.unique_name(aligned.name))};
    node.inputs[1] = aligned.outputs[0];
    graph_.nodes.push_back(std::move(aligned));
  }

  static tl::unexpected<Error> unknown_operator(const std::string& domain) {
    if (domain.empty())
      return fail(ErrorCode::kUnsupported,
                  "clvet does not support this operator; 'clvet check' lists all such nodes");
    return fail(
        ErrorCode::kUnsupported,
        "clvet does not support this operator of the domain {}; 'clvet check' lists all such nodes",
        domain);
  }

  static bool holds_unknown(const Node& node) {
    const auto graphs = node.graphs();
    return !std::all_of(graphs.begin(), graphs.end(),
                        [](const auto& row) { return row.second->knows_all_ops(); });
  }

  Status find_definition(Node& node) const {
    auto def = definition_of(node.domain, node.op, node.opset);
    if (options_.allow_unknown_ops && (!def || holds_unknown(node))) return {};
    if (!def && !find_op(node.domain, node.op)) return unknown_operator(node.domain);
    if (!def) return tl::unexpected<Error>(std::move(def).error());
    const Status fits = check_node(**def, node);
    const bool lacks = !fits && fits.error().code == ErrorCode::kUnsupported;
    if (!(options_.allow_unknown_ops && lacks)) {
      node.def = *def;
      return fits;
    }
    return {};
  }

  Status add_attribute(const onnx::AttributeProto& proto, Node& node) {
    if (proto.name().empty()) return fail(ErrorCode::kInvalidArgument, "it has no name");
    if (!proto.ref_attr_name().empty()) {
      return fail(ErrorCode::kUnsupported, "it refers to an attribute of a function");
    }
    Attribute value;
    switch (proto.type()) {
      case 1:
        value = static_cast<double>(proto.f());
        break;
      case 2:
        value = proto.i();
        break;
      case 3:
        value = proto.s();
        break;
      case 4: {
        CLVET_ASSIGN_OR_RETURN(value, tensor_of(proto.t(), files_));
        break;
      }
      case 5: {
        CLVET_ASSIGN_OR_RETURN(value, subgraph(proto.g(), node));
        break;
      }
      case 6:
        value = std::vector<double>(proto.floats().begin(), proto.floats().end());
        break;
      case 7:
        value = std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
        break;
      case 8:
        value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
        break;
      default:
        return fail(ErrorCode::kUnsupported, "attribute type {} is not supported", proto.type());
    }
    if (!node.attributes.emplace(proto.name(), std::move(value)).second) {
      return fail(ErrorCode::kInvalidArgument, "it is given twice");
    }
    return {};
  }

  Result<std::shared_ptr<const Graph>> subgraph(const onnx::GraphProto& proto, Node& node) {
    Builder inner(proto, opsets_, options_, files_, this);
    CLVET_ASSIGN_OR_RETURN(Graph graph, inner.build());
    for (const std::string& name : inner.captures()) {
      const ValueId id = resolve(name);
      auto slot = std::find(node.inputs.begin() + std::min<size_t>(1, node.inputs.size()),
                            node.inputs.end(), id);
      graph.captures.push_back(static_cast<int>(slot - node.inputs.begin()));
      if (slot != node.inputs.end()) continue;
      node.inputs.push_back(id);
      ++node.captured;
    }
    return std::make_shared<const Graph>(std::move(graph));
  }

  const onnx::GraphProto& proto_;
  const OpsetVersions& opsets_;
  const OnnxOptions& options_;
  ExternalData& files_;
  Builder* outer_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> names_;
  std::set<std::string> node_names_;
  bool renamed_ = false;  // a value does not have the name that the file gives it
  std::vector<std::string> captures_;
};

}  // namespace

Result<Graph> build_graph(const onnx::GraphProto& proto, const OpsetVersions& opsets,
                          const OnnxOptions& options, ExternalData& files) {
  return Builder(proto, opsets, options, files, nullptr).build();
}

}  // namespace clvet
