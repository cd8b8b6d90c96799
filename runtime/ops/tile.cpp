// Tile: each axis repeated.
#include "runtime/ops/support/shapes.h"

namespace clvet {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, call.integers(1));
  TensorType out = call.type(0);
  if (repeats.size() != out.shape.size()) {
    return fail(ErrorCode::kInvalidArgument, "Tile of {} by {}", to_string(out.shape),
                to_string(repeats));
  }
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(out.shape[i], repeats[i], &out.shape[i])) {
      return fail(ErrorCode::kInvalidArgument, "Tile by {}", to_string(repeats));
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

}  // namespace

extern const OpDef op_tile;
const OpDef op_tile{
    .names = {"Tile"},
    .since = 6,
    .inputs = "* l",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet
