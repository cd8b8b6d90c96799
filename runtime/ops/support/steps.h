// An operator as several steps of ONNX's operators. One function says the steps; with types alone
// it is the operator's inference, with tensors its result, and with a graph the nodes that take its
// place, so that the three cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {

// What a step reads or makes.
struct Term {
  TensorType type;
  Tensor value;           // where `known`
  bool known = false;     // always on the host
  bool present = true;    // false: an optional operand that is not there
  ValueId id = kNoValue;  // in a graph, where it has it already

  const Shape& shape() const { return type.shape; }
};

Term no_term();
Term constant_term(Tensor value);
// Constants as most steps need them: an f32 without axes, an i64 of one axis.
Term number(double value);
Term integers(std::vector<int64_t> values);

// The steps of one call. After a refusal every step does nothing and gives no_term().
class Steps {
 public:
  // `run`: the terms get values, for which all inputs must have theirs.
  Steps(const OpCall& call, bool run) : call_(call), run_(run) {}
  // Each step becomes a node of `nodes`, and what it makes a value of `graph`, which holds the
  // call's node. What follows from constants is computed now.
  Steps(const OpCall& call, Graph& graph, std::vector<Node>& nodes)
      : call_(call), run_(false), graph_(&graph), nodes_(&nodes) {}

  const OpCall& call() const { return call_; }
  Term input(size_t i) const;
  // ONNX's operator `op` of that meaning which kOpset has, or one of kStepsDomain.
  Term one(const char* op, const std::vector<Term>& inputs, Attributes attributes = {});
  std::vector<Term> all(const char* op, const std::vector<Term>& inputs, Attributes attributes,
                        size_t outputs);
  // The same elements; their number must fit, which is for the caller to check.
  Term reshaped(const Term& x, Shape shape);
  // The axes of `x` in that order.
  Term transposed(const Term& x, std::vector<int64_t> order);
  // ReduceSum, ReduceMax ... over those axes, which stay with extent 1.
  Term reduced(const char* op, const Term& x, std::vector<int64_t> axes);
  // The last axis cut into parts of those extents.
  std::vector<Term> cut(const Term& x, const std::vector<int64_t>& extents);

  bool ok() const { return status_.has_value(); }
  // Keeps the first error; gives no outputs.
  std::vector<Term> refuse(tl::unexpected<Error> error);
  const Status& status() const { return status_; }

  static constexpr int kOpset = 23;

 private:
  ValueId id_of(const Term& term);
  std::vector<Term> built(Node node, const std::vector<Term>& inputs, std::vector<Term> terms);

  const OpCall& call_;
  bool run_;
  Graph* graph_ = nullptr;
  std::vector<Node>* nodes_ = nullptr;
  Status status_;
};

using StepsOf = std::vector<Term> (*)(Steps&);
Result<std::vector<TensorType>> infer_by(const OpCall& call, StepsOf steps);
Status run_by(const OpCall& call, StepsOf steps, std::vector<Tensor>& outputs);

// OpDef::infer and OpDef::host of an operator that is `steps`.
template <StepsOf steps>
Result<std::vector<TensorType>> infer_steps(const OpCall& call) {
  return infer_by(call, steps);
}
template <StepsOf steps>
Status host_steps(const OpCall& call, std::vector<Tensor>& outputs) {
  return run_by(call, steps, outputs);
}

}  // namespace clvet
