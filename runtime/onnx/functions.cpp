#include "runtime/onnx/functions.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "runtime/onnx/graph_builder.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using Names = std::map<std::string, std::string>;               // in the function; around the call
using Nodes = std::decay_t<decltype(onnx::GraphProto().node())>;
using AttributeRows = std::decay_t<decltype(onnx::NodeProto().attribute())>;

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

class Expander {
 public:
  explicit Expander(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_[{domain_of(function.domain()), function.name(), function.overload()}] = &function;
    note_names(model.graph());
  }

  Status expand(onnx::GraphProto& graph) { return expand(*graph.mutable_node()); }

 private:
  void note_names(const onnx::GraphProto& graph) {
    for (const auto& value : graph.input()) taken_.insert(value.name());
    for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
    for (const auto& node : graph.node()) {
      taken_.insert(node.output().begin(), node.output().end());
      for (const auto& attribute : node.attribute())
        if (attribute.has_g()) note_names(attribute.g());
    }
  }

  std::string new_name(const std::string& stem) {
    std::string name = stem;
    for (int i = 1; !taken_.insert(name).second; ++i) name = stem + "#" + std::to_string(i);
    return name;
  }

  const onnx::FunctionProto* function_of(const onnx::NodeProto& node) const {
    const auto found = functions_.find({domain_of(node.domain()), node.op_type(), node.overload()});
    return found == functions_.end() ? nullptr : found->second;
  }

  Status expand(Nodes& nodes) {
    Nodes out;
    for (onnx::NodeProto& node : nodes) {
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) CLVET_RETURN_IF_ERROR(expand(*attribute.mutable_g()));
      const onnx::FunctionProto* function = function_of(node);
      if (!function) {
        *out.Add() = std::move(node);
        continue;
      }
      CLVET_ASSIGN_OR_RETURN(Nodes body, body_of(*function, node));
      for (onnx::NodeProto& inner : body) *out.Add() = std::move(inner);
    }
    nodes = std::move(out);
    return {};
  }

  // The function's nodes with the names and attributes of the call, expanded in turn.
  Result<Nodes> body_of(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
    const std::string called = one_line(call.op_type());
    if (!open_.insert(&function).second)
      return fail(ErrorCode::kInvalidArgument, "the function {} calls itself", called);
    if (open_.size() > kMostFunctionDepth) {
      return fail(ErrorCode::kUnsupported, "its functions call each other more than {} deep",
                  kMostFunctionDepth);
    }
    nodes_ += static_cast<size_t>(function.node_size());
    bytes_ += function.ByteSizeLong();
    if (nodes_ > kMostFunctionNodes || bytes_ > kMostFunctionBytes) {
      return fail(ErrorCode::kUnsupported,
                  "its functions expand to more than clvet reads; the last one is {}", called);
    }
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
      return fail(ErrorCode::kInvalidArgument,
                  "a node gives the function {} {} inputs and {} outputs, but it has {} and {}",
                  called, call.input_size(), call.output_size(), function.input_size(),
                  function.output_size());
    }
    const std::string stem = call.name().empty() ? call.op_type() : call.name();
    Nodes nodes = function.node();
    Names names = names_of(function, call, stem, nodes);
    for (onnx::NodeProto& node : nodes) adopt(node, names, stem, function, call);
    CLVET_RETURN_IF_ERROR(expand(nodes));
    open_.erase(&function);
    return nodes;
  }

  // What inputs and outputs are called around the call. An output that is also an input, or that
  // stands there twice, is copied.
  Names names_of(const onnx::FunctionProto& function, const onnx::NodeProto& call,
                 const std::string& stem, Nodes& nodes) {
    Names names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (int i = 0; i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      const std::string& own = function.output(i);
      if (names.emplace(own, call.output(i)).second) continue;
      onnx::NodeProto& copy = *nodes.Add();
      copy.set_op_type("Identity");
      copy.add_input(own);
      const std::string fresh = new_name(stem + "/" + own);
      names[fresh] = call.output(i);
      copy.add_output(fresh);
    }
    return names;
  }

  void rename(std::string& name, Names& names, const std::string& stem) {
    if (name.empty()) return;
    const auto found = names.find(name);
    if (found == names.end()) names[name] = new_name(stem + "/" + name);
    name = names[name];
  }

  void adopt(onnx::NodeProto& node, Names& names, const std::string& stem,
             const onnx::FunctionProto& function, const onnx::NodeProto& call) {
    std::string own = node.name();
    if (own.empty()) own = node.output_size() ? node.output(0) : node.op_type();
    node.set_name(stem + "/" + own);
    for (std::string& name : *node.mutable_input()) rename(name, names, stem);
    for (std::string& name : *node.mutable_output()) rename(name, names, stem);
    AttributeRows attributes;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) adopt(*attribute.mutable_g(), names, stem, function, call);
      if (attribute.ref_attr_name().empty()) {
        *attributes.Add() = std::move(attribute);
      } else if (const auto* given = given_for(attribute.ref_attr_name(), function, call)) {
        *attributes.Add() = *given;
        attributes.rbegin()->set_name(attribute.name());
      }
    }
    *node.mutable_attribute() = std::move(attributes);
  }

  void adopt(onnx::GraphProto& graph, Names& names, const std::string& stem,
             const onnx::FunctionProto& function, const onnx::NodeProto& call) {
    for (auto& value : *graph.mutable_input()) rename(*value.mutable_name(), names, stem);
    for (auto& tensor : *graph.mutable_initializer()) rename(*tensor.mutable_name(), names, stem);
    for (onnx::NodeProto& node : *graph.mutable_node()) adopt(node, names, stem, function, call);
    for (auto& value : *graph.mutable_output()) rename(*value.mutable_name(), names, stem);
  }

  static const onnx::AttributeProto* given_for(const std::string& name,
                                               const onnx::FunctionProto& function,
                                               const onnx::NodeProto& call) {
    const auto is_it = [&](const onnx::AttributeProto& row) { return row.name() == name; };
    const auto given = std::find_if(call.attribute().begin(), call.attribute().end(), is_it);
    if (given != call.attribute().end()) return &*given;
    const auto& defaults = function.attribute_proto();
    const auto usual = std::find_if(defaults.begin(), defaults.end(), is_it);
    return usual == defaults.end() ? nullptr : &*usual;
  }

  std::map<Key, const onnx::FunctionProto*> functions_;
  std::set<const onnx::FunctionProto*> open_;  // those around the call in hand
  std::set<std::string> taken_;
  size_t nodes_ = 0, bytes_ = 0;
};

}  // namespace

Status expand_functions(onnx::ModelProto& model, OpsetVersions& opsets) {
  if (model.functions().empty()) return {};
  for (const auto& function : model.functions()) {
    for (const auto& import : function.opset_import()) {
      if (import.version() < 1 || import.version() > 10000) {
        return fail(ErrorCode::kInvalidArgument, "the operator set version {} is not valid",
                    import.version());
      }
      opsets.emplace(domain_of(import.domain()), static_cast<int>(import.version()));
    }
  }
  return Expander(model).expand(*model.mutable_graph());
}

}  // namespace clvet
