// Shape and Size: known from the input's type alone.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_shape {
namespace {

std::pair<int64_t, int64_t> range_of(const OpCall& call) {
  const auto rank = static_cast<int64_t>(call.shape(0).size());
  const auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t first = clamp(call.node.int_attr("start", 0));
  return {first, std::max(first, clamp(call.node.int_attr("end", rank)))};
}

Result<Types> infer(const OpCall& call) {
  if (call.node.op == "Size") return Types{{DType::kI64, {}}};
  const auto [first, last] = range_of(call);
  return Types{{DType::kI64, {last - first}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  auto* y = outputs[0].data<int64_t>();
  if (call.node.op == "Size") {
    *y = elements_of(call.shape(0));
    return {};
  }
  const auto [first, last] = range_of(call);
  std::copy(call.shape(0).begin() + first, call.shape(0).begin() + last, y);
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Shape", "Size"},
    .inputs = "*",
    .attributes = "start:i end:i",
    .moves_elements = true,
    .needs_values = false,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_shape
