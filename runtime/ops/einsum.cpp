// Einsum: operands are joined two at a time, each time as a batch of matrix products.
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/equation.h"
#include "runtime/ops/support/equation_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_einsum {
namespace {

Result<Types> infer(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i)) return bad_attribute(call, "equation");
  }
  CLVET_ASSIGN_OR_RETURN(const Equation equation, equation_of(call));
  return Types{{call.type(0).dtype, equation.shape(equation.output)}};
}

struct Operand {
  Labels labels;
  Tensor tensor;
};

// How far one index of `label` reaches: repeated labels walk a diagonal, extents of 1 are repeated.
int64_t step_of(const Operand& term, int label) {
  const std::vector<int64_t> strides = strides_of(term.tensor.shape());
  int64_t step = 0;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (term.labels[i] == label && term.tensor.shape()[i] != 1) step += strides[i];
  }
  return step;
}

// The term with axes `wanted`, summed over its other ones.
Result<Tensor> arranged(const Equation& equation, const Operand& term, const Labels& wanted) {
  Labels walked = wanted;
  for (const int label : term.labels) {
    if (!holds(walked, label)) walked.push_back(label);
  }
  CLVET_ASSIGN_OR_RETURN(Tensor out, Tensor::create(term.tensor.dtype(), equation.shape(wanted)));
  const std::vector<int64_t> out_strides = strides_of(out.shape());
  std::vector<int64_t> steps[2];
  for (size_t i = 0; i < walked.size(); ++i) {
    steps[0].push_back(step_of(term, walked[i]));
    steps[1].push_back(i < wanted.size() ? out_strides[i] : 0);
  }
  const Shape space = equation.shape(walked);
  const int64_t length = space.empty() ? 1 : space.back();
  const int64_t from = space.empty() ? 0 : steps[0].back(),
                to = space.empty() ? 0 : steps[1].back();
  CLVET_RETURN_IF_ERROR(visit_numbers(term.tensor.dtype(), [&]<class T>() {
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    std::vector<Sum> sums(static_cast<size_t>(out.elements()));
    const T* x = term.tensor.data<T>();
    for_each_row(space, steps, [&](const int64_t(&at)[2]) {
      for (int64_t i = 0; i < length; ++i) {
        Sum& sum = sums[static_cast<size_t>(at[1] + i * to)];
        sum = wrap_add(sum, static_cast<Sum>(x[at[0] + i * from]));
      }
    });
    for (int64_t i = 0; i < out.elements(); ++i)
      out.data<T>()[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
  }));
  return out;
}

int64_t product(const Shape& shape) { return elements_of(shape); }

// Both terms as one, which keeps the labels in `kept`.
Result<Operand> joined(const Equation& equation, const Operand& a, const Operand& b,
                       const Labels& kept) {
  Labels both, summed, left, right;
  for (const int label : std::set<int>(a.labels.begin(), a.labels.end())) {
    if (holds(b.labels, label))
      (holds(kept, label) ? both : summed).push_back(label);
    else if (holds(kept, label))
      left.push_back(label);
  }
  for (const int label : std::set<int>(b.labels.begin(), b.labels.end())) {
    if (!holds(a.labels, label) && holds(kept, label)) right.push_back(label);
  }
  const auto chained = [](const Labels& x, const Labels& y, const Labels& z) {
    return chain(chain(x, y), z);
  };
  CLVET_ASSIGN_OR_RETURN(Tensor x, arranged(equation, a, chained(both, left, summed)));
  CLVET_ASSIGN_OR_RETURN(Tensor y, arranged(equation, b, chained(both, summed, right)));
  const int64_t batch = product(equation.shape(both)), depth = product(equation.shape(summed));
  x = x.reshaped({batch, product(equation.shape(left)), depth});
  y = y.reshaped({batch, depth, product(equation.shape(right))});
  Node node;
  node.op = "MatMul";
  node.def = find_op("", node.op);
  node.outputs = {0};
  const std::array<const Tensor*, 2> inputs = {&x, &y};
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> made, run_node(node, inputs));
  Operand out{chained(both, left, right), {}};
  out.tensor = made[0].reshaped(equation.shape(out.labels));
  return out;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Equation equation, equation_of(call));
  Operand term{equation.inputs[0], call.tensor(0)};
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(term, joined(equation, term, {equation.inputs[i], call.tensor(i)},
                                        equation.needed_after(i)));
  }
  CLVET_ASSIGN_OR_RETURN(outputs[0], arranged(equation, term, equation.output));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Einsum"},
    .since = 12,
    .inputs = "T+",
    .types = "fiu",
    .attributes = "equation:s",
    .infer = infer,
    .host = host,
    .expand = equation_steps,
};

}  // namespace clvet::op_einsum
