// TopK: of equal values the one of the lower index comes first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/ordering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_top_k {
namespace {

Result<int64_t> count_of(const OpCall& call, int64_t extent) {
  if (!call.has(1)) {
    const int64_t k = call.node.int_attr("k", -1);
    if (k < 0 || k > extent) return bad_attribute(call, "k", k);
    return k;
  }
  CLVET_ASSIGN_OR_RETURN(const int64_t k, single_integer(call, 1));
  if (k < 0 || k > extent) return bad_value(call, 1, static_cast<double>(k));
  return k;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", -1));
  Shape out = call.shape(0);
  CLVET_ASSIGN_OR_RETURN(const int64_t k, count_of(call, out[static_cast<size_t>(axis)]));
  out[static_cast<size_t>(axis)] = k;
  return Types{{call.type(0).dtype, out}, {DType::kI64, out}};
}

template <class T>
void run(const OpCall& call, const AxisSpan& span, int64_t k, std::vector<Tensor>& outputs) {
  const bool largest = call.node.int_attr("largest", 1) != 0;
  std::vector<int64_t> order(static_cast<size_t>(span.extent));
  for (int64_t row = 0; row < span.outer * span.inner; ++row) {
    const int64_t o = row / span.inner, i = row % span.inner;
    const T* x = call.tensor(0).data<T>() + o * span.extent * span.inner + i;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      const T one = x[a * span.inner], other = x[b * span.inner];
      if (above(one, other)) return largest;
      if (above(other, one)) return !largest;
      return a < b;
    });
    for (int64_t n = 0; n < k; ++n) {
      const int64_t to = (o * k + n) * span.inner + i, from = order[static_cast<size_t>(n)];
      outputs[0].data<T>()[to] = x[from * span.inner];
      if (outputs.size() > 1) outputs[1].data<int64_t>()[to] = from;
    }
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", -1));
  const AxisSpan span(call.shape(0), axis);
  const int64_t k = outputs[0].dim(axis);
  return visit_numbers(call.type(0).dtype, [&]<class T>() { run<T>(call, span, k, outputs); });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"TopK"},
    .inputs = "T l?",
    .types = "fiu",
    .attributes = "axis:i k:i largest:i sorted:i",
    .max_outputs = 2,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_top_k
