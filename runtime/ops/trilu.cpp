// Trilu: the triangle above or below a diagonal of each matrix.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_trilu {
namespace {

Result<Types> infer(const OpCall& call) {
  if (call.shape(0).size() < 2) return bad_shape(call, 0);
  if (call.has(1) && elements_of(call.shape(1)) != 1) return bad_shape(call, 1);
  return infer_same(call);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  int64_t k = 0;
  if (call.has(1)) {
    CLVET_ASSIGN_OR_RETURN(k, single_integer(call, 1));
  }
  const bool upper = call.node.int_attr("upper", 1) != 0;
  const int64_t columns = call.shape(0).back(), rows = call.shape(0)[call.shape(0).size() - 2];
  k = std::clamp(k, -rows - 1, columns + 1);
  visit_size(size_of(call.type(0).dtype), [&]<class T>() {
    const T* x = call.tensor(0).data<T>();
    T* y = outputs[0].data<T>();
    for (int64_t i = 0; i < outputs[0].elements(); ++i) {
      const int64_t beyond = i % columns - i / columns % rows - k;
      if (upper ? beyond >= 0 : beyond <= 0) y[i] = x[i];
    }
  });
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Trilu"},
    .since = 14,
    .inputs = "* l?",
    .attributes = "upper:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_trilu
