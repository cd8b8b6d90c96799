// Where: condition, then, else, all broadcast together.
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

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

// Rows of both operands behind each other: nothing is computed, so that what is not chosen may be
// infinite or no number.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto types = infer(call);
  if (!types) return {};
  const Shape& out = (*types)[0].shape;
  if (elements_of(out) == 0 || elements_of(out) > kMostPicked) return {};
  const int64_t first = elements_of(call.shape(1)), second = elements_of(call.shape(2));
  const Term places = constant_term(places_in(call.shape(1), out));
  const Term others =
      s.one("Add", {constant_term(places_in(call.shape(2), out)), integers({first})});
  const Term table =
      s.one("Concat", {s.reshaped(s.input(1), {first, 1}), s.reshaped(s.input(2), {second, 1})},
            {{"axis", int64_t{0}}});
  return {picked(s, table, s.one("Where", {s.input(0), places, others}), out)};
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
    .expand = steps,
};

}  // namespace clvet::op_where
