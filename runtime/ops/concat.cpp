// Concat along an axis.
#include "runtime/ops/support/shapes.h"

namespace clvet {
namespace {

Result<Types> infer(const OpCall& call) {
  TensorType out = call.type(0);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 1),
                                                         static_cast<int64_t>(out.shape.size())));
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    Shape other = call.shape(i), first = out.shape;
    if (other.size() == first.size()) {
      out.shape[axis] += other[axis];
      other[axis] = first[axis] = 0;
    }
    if (other != first) {
      return fail(ErrorCode::kInvalidArgument, "Concat of {} and {} along axis {}",
                  to_string(call.shape(0)), to_string(call.shape(i)), axis);
    }
  }
  return Types{out};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Shape& shape = outputs[0].shape();
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 1),
                                                         static_cast<int64_t>(shape.size())));
  const int64_t outer = elements_of(std::span(shape).first(axis));
  const size_t element = size_of(outputs[0].dtype());
  std::byte* to = outputs[0].raw();
  for (int64_t o = 0; o < outer; ++o) {
    for (const OpInput& input : call.inputs) {
      const size_t bytes =
          element * static_cast<size_t>(elements_of(std::span(input.type.shape).subspan(axis)));
      if (bytes) std::memcpy(to, input.value->raw() + static_cast<size_t>(o) * bytes, bytes);
      to += bytes;
    }
  }
  return {};
}

}  // namespace

extern const OpDef op_concat;
const OpDef op_concat{
    .names = {"Concat"},
    .inputs = "T+",
    .types = "fiub",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet
