// An operator as several steps of ONNX's operators. One function says the steps; with types alone
// it is the operator's inference, with tensors its result, so that the two cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

// What a step reads or makes.
struct Term {
  TensorType type;
  Tensor value;         // where `known`
  bool known = false;   // always on the host
  bool present = true;  // false: an optional operand that is not there

  const Shape& shape() const { return type.shape; }
};

Term no_term();
Term constant_term(Tensor value);

// The steps of one call. After a refusal every step does nothing and gives no_term().
class Steps {
 public:
  // `run`: the terms get values, for which all inputs must have theirs.
  Steps(const OpCall& call, bool run) : call_(call), run_(run) {}

  const OpCall& call() const { return call_; }
  Term input(size_t i) const;
  // ONNX's operator `op` of that meaning which kOpset has.
  Term one(const char* op, const std::vector<Term>& inputs, Attributes attributes = {});
  std::vector<Term> all(const char* op, const std::vector<Term>& inputs, Attributes attributes,
                        size_t outputs);
  // The same elements; their number must fit, which is for the caller to check.
  Term reshaped(const Term& x, Shape shape) const;
  // The last axis cut into parts of those extents.
  std::vector<Term> cut(const Term& x, const std::vector<int64_t>& extents);

  bool ok() const { return status_.has_value(); }
  // Keeps the first error; gives no outputs.
  std::vector<Term> refuse(tl::unexpected<Error> error);
  const Status& status() const { return status_; }

  static constexpr int kOpset = 23;

 private:
  const OpCall& call_;
  bool run_;
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
