// Tile: each axis repeated.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/strided_copy.h"

namespace clvet::op_tile {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, call.integers(1));
  TensorType out = call.type(0);
  if (repeats.size() != out.shape.size()) {
    return fail(ErrorCode::kInvalidArgument, "Tile's input {} and repeats {} do not fit together",
                to_string(out.shape), to_string(repeats));
  }
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(out.shape[i], repeats[i], &out.shape[i])) {
      return fail(ErrorCode::kInvalidArgument, "Tile's repeats {} are not valid",
                  to_string(repeats));
    }
  }
  return Types{out};
}

// As a copy of [repeat, extent] pairs, the repeats with stride 0.
Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Shape& from = call.shape(0);
  const std::vector<int64_t> own = strides_of(from);
  Shape shape;
  std::vector<int64_t> strides;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 0) return {};
    shape.insert(shape.end(), {outputs[0].dim(static_cast<int64_t>(i)) / from[i], from[i]});
    strides.insert(strides.end(), {0, own[i]});
  }
  Tensor pairs = outputs[0].reshaped(shape);
  strided_copy(call.tensor(0), 0, strides, pairs);
  return {};
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const Shape& from = call.shape(0);
  const auto types = infer(call);
  if (!types) return host_only(types.error().message);
  const Shape& shape = (*types)[0].shape;
  if (elements_of(shape) == 0) return host_only("a tensor has no elements");
  const View view = usable_view(from, preferred);
  const std::vector<Step> steps = steps_of(from, view);
  std::vector<MovedAxis> axes;
  for (size_t i = 0; i < from.size(); ++i) {
    axes.push_back({shape[i] / from[i], {}, i});
    axes.push_back({from[i], steps[i], i});
  }
  auto lowered = move_call(*view_of(from, view), shape, view, axes, {});
  if (!lowered) return host_only(kTooManyAxes);
  lowered->inputs[0].view = view;
  return kernel_call(std::move(*lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Tile"},
    .since = 6,
    .inputs = "* l",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_tile
