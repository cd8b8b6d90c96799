// DepthToSpace and SpaceToDepth: one copy with its axes in another order.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/strided_copy.h"

namespace clvet::op_depth_to_space {
namespace {

bool to_space(const OpCall& call) { return call.node.op == "DepthToSpace"; }

Result<int64_t> block_of(const OpCall& call) {
  constexpr int64_t kLargest = 1 << 15;  // its square fits
  const int64_t block = call.node.int_attr("blocksize", 0);
  if (block < 1 || block > kLargest) return bad_attribute(call, "blocksize", block);
  return block;
}

Result<Types> infer(const OpCall& call) {
  const Shape& x = call.shape(0);
  if (x.size() != 4) return bad_shape(call, 0);
  CLVET_ASSIGN_OR_RETURN(const int64_t b, block_of(call));
  constexpr int64_t kLargest = int64_t{1} << 40;
  for (const int64_t extent : x) {
    if (extent > kLargest) return bad_shape(call, 0);
  }
  if (to_space(call)) {
    if (x[1] % (b * b) != 0) return bad_attribute(call, "blocksize", b);
    return Types{{call.type(0).dtype, {x[0], x[1] / (b * b), x[2] * b, x[3] * b}}};
  }
  if (x[2] % b != 0 || x[3] % b != 0) return bad_attribute(call, "blocksize", b);
  return Types{{call.type(0).dtype, {x[0], x[1] * b * b, x[2] / b, x[3] / b}}};
}

// Axes of the input, and of these the order in the output.
struct Split {
  Shape axes;
  std::array<size_t, 6> order;
};

Split split_of(const OpCall& call, int64_t b) {
  const Shape& x = call.shape(0);
  if (!to_space(call)) return {{x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4}};
  const int64_t c = x[1] / (b * b);
  if (call.node.string_attr("mode", "DCR") == "CRD")
    return {{x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}};
  return {{x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t block, block_of(call));
  const Split split = split_of(call, block);
  const std::vector<int64_t> strides = strides_of(split.axes);
  Shape shape;
  std::vector<int64_t> moved;
  for (const size_t axis : split.order) {
    shape.push_back(split.axes[axis]);
    moved.push_back(strides[axis]);
  }
  Tensor out = outputs[0].reshaped(shape);
  strided_copy(call.tensor(0), 0, moved, out);
  return {};
}

std::vector<Term> steps(Steps& s) {
  const auto block = block_of(s.call());
  const auto types = infer(s.call());
  if (!block || !types) return {};
  const Split split = split_of(s.call(), *block);
  const Term apart = s.reshaped(s.input(0), split.axes);
  const Term moved = s.transposed(apart, {split.order.begin(), split.order.end()});
  return {s.reshaped(moved, (*types)[0].shape)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"DepthToSpace", "SpaceToDepth"},
    .inputs = "*",
    .attributes = "blocksize:i mode:s=DCR|CRD",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_depth_to_space
