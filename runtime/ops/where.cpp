// Where: condition, then, else, all broadcast together.
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_where {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(Types types, infer_broadcast(call));
  types[0].dtype = call.type(1).dtype;
  return types;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Shape& shape = outputs[0].shape();
  const int64_t n = shape.empty() ? 1 : shape.back();
  std::vector<int64_t> strides[3];
  int64_t step[3] = {};
  for (int i = 0; i < 3; ++i) {
    strides[i] = broadcast_strides(call.shape(i), shape);
    if (!shape.empty()) step[i] = strides[i].back();
  }
  visit_size(size_of(call.type(1).dtype), [&]<class T>() {
    T* y = outputs[0].data<T>();
    for_each_row(shape, strides, [&](const int64_t(&at)[3]) {
      const bool* choose = call.tensor(0).data<bool>() + at[0];
      const T* a = call.tensor(1).data<T>() + at[1];
      const T* b = call.tensor(2).data<T>() + at[2];
      for (int64_t i = 0; i < n; ++i) {
        y[i] = choose[i * step[0]] ? a[i * step[1]] : b[i * step[2]];
      }
      y += n;
    });
  });
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Where"},
    .since = 9,
    .inputs = "b T T",
    .types = "fiub",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_where
