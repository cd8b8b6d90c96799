// Gather along an axis.
#include "runtime/ops/support/shapes.h"

namespace clvet {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape &data = call.shape(0), &indices = call.shape(1);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 0),
                                                         static_cast<int64_t>(data.size())));
  TensorType out{call.type(0).dtype, Shape(data.begin(), data.begin() + axis)};
  out.shape.insert(out.shape.end(), indices.begin(), indices.end());
  out.shape.insert(out.shape.end(), data.begin() + axis + 1, data.end());
  return Types{out};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& data = call.tensor(0);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis,
                         normal_axis(call.node.int_attr("axis", 0), data.rank()));
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> indices, call.integers(1));
  const int64_t extent = data.dim(axis);
  for (int64_t& index : indices) {
    if (index < -extent || index >= extent) {
      return fail(ErrorCode::kInvalidArgument, "Gather of index {} from {} along axis {}", index,
                  to_string(data.shape()), axis);
    }
    if (index < 0) index += extent;
  }
  const int64_t outer = elements_of(std::span(data.shape()).first(axis));
  const size_t block = size_of(data.dtype()) *
                       static_cast<size_t>(elements_of(std::span(data.shape()).subspan(axis + 1)));
  std::byte* to = outputs[0].raw();
  for (int64_t o = 0; o < outer && block; ++o) {
    for (const int64_t index : indices) {
      std::memcpy(to, data.raw() + static_cast<size_t>(o * extent + index) * block, block);
      to += block;
    }
  }
  return {};
}

}  // namespace

extern const OpDef op_gather;
const OpDef op_gather{
    .names = {"Gather"},
    .inputs = "* i",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet
