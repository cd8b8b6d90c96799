// MaxUnpool: puts values back to where MaxPool took them from, among zeros.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_max_unpool {
namespace {

enum Input : size_t { kX, kIndices, kShape };
constexpr int64_t kLargest = int64_t{1} << 30;  // products of two of them fit

Result<std::vector<int64_t>> list_of(const OpCall& call, const char* name, size_t count,
                                     int64_t fallback) {
  const auto* given = call.node.ints_attr(name);
  std::vector<int64_t> values = given ? *given : std::vector<int64_t>(count, fallback);
  if (values.size() != count) return bad_attribute(call, name);
  for (const int64_t value : values)
    if (value < fallback || value > kLargest) return bad_attribute(call, name, value);
  return values;
}

// What MaxPool of these attributes makes x of, where no shape is given.
Result<Shape> pooled_from(const OpCall& call) {
  const Shape& x = call.shape(kX);
  const size_t axes = x.size() - 2;
  if (!call.node.ints_attr("kernel_shape")) return missing_attribute(call, "kernel_shape");
  CLVET_ASSIGN_OR_RETURN(const auto kernel, list_of(call, "kernel_shape", axes, 1));
  CLVET_ASSIGN_OR_RETURN(const auto strides, list_of(call, "strides", axes, 1));
  CLVET_ASSIGN_OR_RETURN(const auto pads, list_of(call, "pads", 2 * axes, 0));
  Shape out{x[0], x[1]};
  for (size_t i = 0; i < axes; ++i) {
    if (x[i + 2] > kLargest) return bad_shape(call, kX);
    out.push_back((x[i + 2] - 1) * strides[i] - pads[i] - pads[i + axes] + kernel[i]);
    if (out.back() < 0) return bad_attribute(call, "pads");
  }
  return out;
}

Result<Types> infer(const OpCall& call) {
  const Shape& x = call.shape(kX);
  if (x.size() < 3) return bad_shape(call, kX);
  if (call.shape(kIndices) != x) return misfit(call, kX, kIndices);
  CLVET_ASSIGN_OR_RETURN(Shape out, pooled_from(call));
  if (call.has(kShape)) {
    CLVET_ASSIGN_OR_RETURN(out, call.integers(kShape));
    if (out.size() != x.size()) return misfit(call, kX, kShape);
  }
  return Types{{call.type(kX).dtype, out}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const int64_t* indices = call.tensor(kIndices).data<int64_t>();
  const Tensor& x = call.tensor(kX);
  for (int64_t i = 0; i < x.elements(); ++i)
    if (indices[i] < 0 || indices[i] >= outputs[0].elements()) return index_outside(call);
  visit_size(size_of(x.dtype()), [&]<class T>() {
    for (int64_t i = 0; i < x.elements(); ++i) outputs[0].data<T>()[indices[i]] = x.data<T>()[i];
  });
  return {};
}

}  // namespace

// The indices count in the output as it is, as onnxruntime and PyTorch have it.
extern const OpDef def;
const OpDef def{
    .names = {"MaxUnpool"},
    .since = 9,
    .inputs = "T l l?",
    .attributes = "kernel_shape:I pads:I strides:I",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_max_unpool
