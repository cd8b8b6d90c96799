// NonZero: the shape of the result follows from the values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_non_zero {
namespace {

// A NaN is not zero.
Result<std::vector<int64_t>> places_of(const OpCall& call) {
  if (!call.inputs[0].value)
    return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", 0);
  CLVET_ASSIGN_OR_RETURN(const Tensor truth, call.inputs[0].value->cast(DType::kBool));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < truth.elements(); ++i) {
    if (truth.data<bool>()[i]) places.push_back(i);
  }
  return places;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const auto places, places_of(call));
  const auto rank = static_cast<int64_t>(std::max<size_t>(call.shape(0).size(), 1));
  return Types{{DType::kI64, {rank, static_cast<int64_t>(places.size())}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const auto places, places_of(call));
  auto* y = outputs[0].data<int64_t>();
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t left = places[i];
    for (size_t axis = call.shape(0).size(); axis-- > 0;) {
      y[axis * places.size() + i] = left % call.shape(0)[axis];
      left /= call.shape(0)[axis];
    }
  }
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"NonZero"},
    .since = 9,
    .inputs = "*",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_non_zero
