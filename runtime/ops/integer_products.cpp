// ConvInteger and MatMulInteger through the float products: exact while every sum stays below 2^24,
// which cutting the operands into digits sees to.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_integer_products {
namespace {

bool is_conv(const OpCall& call) { return call.node.op == "ConvInteger"; }

// The float node that computes the same on the shifted values.
Node float_node(const Node& node) {
  Node out = node;
  out.op = node.op == "ConvInteger" ? "Conv" : "MatMul";
  out.def = find_op("", out.op);
  return out;
}

Result<Types> infer(const OpCall& call) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const DType dtype = call.type(i).dtype;
    if (dtype != DType::kU8 && dtype != DType::kI8) {
      return fail(ErrorCode::kUnsupported, "{} does not support the type {}", call.node.op,
                  to_string(dtype));
    }
  }
  const Node node = float_node(call.node);
  OpCall inner{node, {call.inputs[0], call.inputs[1]}};
  for (OpInput& input : inner.inputs) input = {{DType::kF32, input.type.shape}, nullptr, true};
  CLVET_ASSIGN_OR_RETURN(Types types, infer_node(inner));
  types[0].dtype = DType::kI32;
  return types;
}

// input - zero point, which is one value or one a row (left) or column or filter (right).
Result<Tensor> shifted(const OpCall& call, size_t index) {
  CLVET_ASSIGN_OR_RETURN(Tensor out, call.tensor(index).cast(DType::kF32));
  if (!call.has(index + 2)) return out;
  const std::vector<double> zero = call.tensor(index + 2).to_f64();
  const auto count = static_cast<int64_t>(zero.size());
  int64_t inner = 1;
  if (is_conv(call) && index == 1 && out.dim(0)) inner = out.elements() / out.dim(0);
  if (!is_conv(call) && index == 0) inner = out.shape().back();
  const int64_t rows = out.rank() > 1 ? out.dim(out.rank() - 2) : 1;
  const int64_t along = is_conv(call) ? (index == 0 ? 1 : out.dim(0))
                        : index == 0  ? rows
                                      : out.shape().back();
  if (count != 1 && count != along) {
    return fail(ErrorCode::kInvalidArgument, "{} does not support {} zero points", call.node.op,
                count);
  }
  float* x = out.data<float>();
  for (int64_t i = 0; i < out.elements(); ++i) {
    x[i] -= static_cast<float>(zero[count == 1 ? 0 : i / std::max<int64_t>(inner, 1) % count]);
  }
  return out;
}

struct Part {
  Tensor tensor;
  int64_t factor = 1;
};

// Values below 256 as digits of `bits` bits, the highest of which has the sign.
Result<std::vector<Part>> digits(Tensor tensor, int bits) {
  const int64_t radix = int64_t{1} << bits;
  std::vector<Part> parts;
  int64_t factor = 1;
  for (; factor * radix < 256; factor *= radix) {
    CLVET_ASSIGN_OR_RETURN(Tensor high, Tensor::create(DType::kF32, tensor.shape()));
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      high.data<float>()[i] = std::floor(tensor.data<float>()[i] / static_cast<float>(radix));
      tensor.data<float>()[i] -= static_cast<float>(radix) * high.data<float>()[i];
    }
    parts.push_back({std::move(tensor), factor});
    tensor = std::move(high);
  }
  parts.push_back({std::move(tensor), factor});
  return parts;
}

Status add_product(const Node& node, const Part& a, const Part& b, Tensor& out) {
  const std::array<const Tensor*, 2> inputs = {&a.tensor, &b.tensor};
  CLVET_ASSIGN_OR_RETURN(const std::vector<Tensor> sums, run_node(node, inputs));
  auto* y = out.data<int32_t>();
  for (int64_t i = 0; i < out.elements(); ++i) {
    const int64_t sum = std::llrint(sums[0].data<float>()[i]);
    y[i] = static_cast<int32_t>(y[i] + a.factor * b.factor * sum);
  }
  return {};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(Tensor left, shifted(call, 0));
  CLVET_ASSIGN_OR_RETURN(Tensor right, shifted(call, 1));
  const int64_t columns = is_conv(call) ? right.dim(0) : right.shape().back();
  const int64_t terms = right.elements() / std::max<int64_t>(columns, 1);
  // Two digits of 4, 2 or 1 bits make at most 2^8, 2^4 or 2^2.
  const int bits = terms <= 1 << 16 ? 4 : terms <= 1 << 20 ? 2 : 1;
  std::vector<Part> lefts;
  if (terms <= 4096) {
    lefts.push_back({std::move(left), 1});
  } else {
    CLVET_ASSIGN_OR_RETURN(lefts, digits(std::move(left), bits));
  }
  CLVET_ASSIGN_OR_RETURN(const std::vector<Part> rights, digits(std::move(right), bits));
  const Node node = float_node(call.node);
  for (const Part& a : lefts) {
    for (const Part& b : rights) CLVET_RETURN_IF_ERROR(add_product(node, a, b, outputs[0]));
  }
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ConvInteger", "MatMulInteger"},
    .since = 10,
    .inputs = "* * *? *?",
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations:I group:i kernel_shape:I pads:I "
        "strides:I",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_integer_products
