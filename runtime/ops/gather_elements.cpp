// GatherElements.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_gather_elements {
namespace {

Result<int64_t> axis_of(const OpCall& call) {
  return normal_axis(call.node.int_attr("axis", 0), static_cast<int64_t>(call.shape(0).size()));
}

Result<Types> infer(const OpCall& call) {
  if (call.shape(0).size() != call.shape(1).size() || call.shape(0).empty()) {
    return fail(ErrorCode::kInvalidArgument, "GatherElements of {} by {}", to_string(call.shape(0)),
                to_string(call.shape(1)));
  }
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  for (size_t i = 0; i < call.shape(0).size(); ++i) {
    if (static_cast<int64_t>(i) != axis && call.shape(1)[i] > call.shape(0)[i]) {
      return fail(ErrorCode::kInvalidArgument, "GatherElements of {} by {}",
                  to_string(call.shape(0)), to_string(call.shape(1)));
    }
  }
  return Types{{call.type(0).dtype, call.shape(1)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.integers(1));
  const Shape& shape = outputs[0].shape();
  const int64_t extent = call.shape(0)[axis];
  std::vector<int64_t> strides = strides_of(call.shape(0));
  const int64_t step = strides[axis];
  strides[axis] = 0;
  const std::vector<int64_t> walk[1] = {strides};
  size_t next = 0;
  bool outside = false;
  visit_size(size_of(call.type(0).dtype), [&]<class T>() {
    T* y = outputs[0].data<T>();
    for_each_row(shape, walk, [&](const int64_t(&at)[1]) {
      for (int64_t i = 0; i < shape.back(); ++i, ++next) {
        const int64_t index = indices[next] < 0 ? indices[next] + extent : indices[next];
        if (index < 0 || index >= extent) {
          outside = true;
          continue;
        }
        y[next] = call.tensor(0).data<T>()[at[0] + i * strides.back() + index * step];
      }
    });
  });
  if (outside) return fail(ErrorCode::kInvalidArgument, "GatherElements with an index outside");
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GatherElements"},
    .since = 11,
    .inputs = "* i",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_gather_elements
