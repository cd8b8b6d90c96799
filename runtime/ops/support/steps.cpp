#include "runtime/ops/support/steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

Node node_of(const Node& outer, const char* op, const std::vector<Term>& inputs,
             Attributes attributes, size_t outputs) {
  Node node;
  node.name = outer.name;
  node.op = op;
  node.opset = Steps::kOpset;
  node.def = find_op("", op);
  if (!node.def) node.def = find_op(kStepsDomain, op);
  node.domain = node.def->domain;
  node.attributes = std::move(attributes);
  ValueId id = 0;
  for (const Term& input : inputs) node.inputs.push_back(input.present ? id++ : kNoValue);
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(id++);
  return node;
}

Result<std::vector<Term>> typed(const Node& node, const std::vector<Term>& inputs) {
  OpCall call{node, {}};
  for (const Term& input : inputs)
    call.inputs.push_back({input.type, input.known ? &input.value : nullptr, input.present});
  CLVET_ASSIGN_OR_RETURN(const std::vector<TensorType> types, infer_node(call));
  std::vector<Term> terms;
  for (const TensorType& type : types) terms.push_back({type, {}, false, true});
  return terms;
}

Result<std::vector<Term>> computed(const Node& node, const std::vector<Term>& inputs) {
  std::vector<const Tensor*> tensors;
  for (const Term& input : inputs) tensors.push_back(input.present ? &input.value : nullptr);
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, run_node(node, tensors));
  std::vector<Term> terms;
  for (Tensor& output : outputs) terms.push_back(constant_term(std::move(output)));
  return terms;
}

}  // namespace

Term no_term() {
  Term term;
  term.present = false;
  return term;
}

Term constant_term(Tensor value) {
  Term term{value.type(), {}, true, true};
  term.value = std::move(value);
  return term;
}

Term number(double value) { return constant_term(Tensor::scalar(static_cast<float>(value))); }

Term integers(std::vector<int64_t> values) {
  return constant_term(
      Tensor::from({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

Term Steps::input(size_t i) const {
  if (!call_.has(i)) return no_term();
  Term term{call_.type(i), {}, false, true};
  if (const Tensor* value = call_.inputs[i].value) term = constant_term(*value);
  if (graph_) term.id = call_.node.inputs[i];
  return term;
}

ValueId Steps::id_of(const Term& term) {
  if (!term.present || term.id != kNoValue) return term.id;
  return graph_->add_constant(graph_->unique_name(call_.node.name + "/constant"), term.value);
}

// The node with its place in the graph; `terms` are its outputs.
std::vector<Term> Steps::built(Node node, const std::vector<Term>& inputs,
                               std::vector<Term> terms) {
  node.name = graph_->unique_name(call_.node.name + "/" + node.op);
  for (size_t i = 0; i < inputs.size(); ++i) node.inputs[i] = id_of(inputs[i]);
  for (size_t i = 0; i < terms.size(); ++i) {
    const ValueId id = graph_->add_value(graph_->unique_name(node.name));
    graph_->values[static_cast<size_t>(id)].dtype = terms[i].type.dtype;
    graph_->values[static_cast<size_t>(id)].shape = terms[i].type.shape;
    terms[i].id = node.outputs[i] = id;
  }
  nodes_->push_back(std::move(node));
  return terms;
}

std::vector<Term> Steps::all(const char* op, const std::vector<Term>& inputs, Attributes attributes,
                             size_t outputs) {
  std::vector<Term> none(outputs, no_term());
  if (!ok()) return none;
  const Node node = node_of(call_.node, op, inputs, std::move(attributes), outputs);
  status_ = check_node(*node.def, node);
  if (!ok()) return none;
  const bool known = std::all_of(inputs.begin(), inputs.end(),
                                 [](const Term& input) { return input.known || !input.present; });
  auto terms = run_ || (graph_ && known) ? computed(node, inputs) : typed(node, inputs);
  if (terms) terms->resize(std::min(terms->size(), outputs), no_term());
  if (terms && graph_ && !known) return built(node, inputs, std::move(*terms));
  if (terms) return std::move(*terms);
  status_ = tl::unexpected<Error>(std::move(terms).error());
  return none;
}

Term Steps::one(const char* op, const std::vector<Term>& inputs, Attributes attributes) {
  return all(op, inputs, std::move(attributes), 1)[0];
}

Term Steps::reshaped(const Term& x, Shape shape) {
  if (!ok() || !x.present) return no_term();
  if (graph_ && !x.known) {
    if (x.shape() == shape) return x;
    return one("Reshape", {x, integers(std::move(shape))}, {{"allowzero", int64_t{1}}});
  }
  if (x.known) return constant_term(x.value.reshaped(std::move(shape)));
  return {{x.type.dtype, std::move(shape)}, {}, false, true};
}

Term Steps::transposed(const Term& x, std::vector<int64_t> order) {
  return one("Transpose", {x}, {{"perm", std::move(order)}});
}

Term Steps::reduced(const char* op, const Term& x, std::vector<int64_t> axes) {
  return one(op, {x, integers(std::move(axes))}, {{"keepdims", int64_t{1}}});
}

std::vector<Term> Steps::cut(const Term& x, const std::vector<int64_t>& extents) {
  return all("Split", {x, integers(extents)}, {{"axis", int64_t{-1}}}, extents.size());
}

std::vector<Term> Steps::refuse(tl::unexpected<Error> error) {
  if (ok()) status_ = std::move(error);
  return {};
}

Result<std::vector<TensorType>> infer_by(const OpCall& call, StepsOf steps) {
  Steps s(call, false);
  const std::vector<Term> terms = steps(s);
  CLVET_RETURN_IF_ERROR(s.status());
  std::vector<TensorType> types;
  for (const Term& term : terms) types.push_back(term.type);
  return types;
}

Status run_by(const OpCall& call, StepsOf steps, std::vector<Tensor>& outputs) {
  Steps s(call, true);
  std::vector<Term> terms = steps(s);
  CLVET_RETURN_IF_ERROR(s.status());
  for (size_t i = 0; i < std::min(terms.size(), outputs.size()); ++i) {
    if (terms[i].present) outputs[i] = std::move(terms[i].value);
  }
  return {};
}

}  // namespace clvet
