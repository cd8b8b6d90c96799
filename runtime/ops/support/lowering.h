// Lowerings that several ops share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"

namespace clvet {

// The integer "code" of the kernels op eltwise_binary.
enum class EltwiseCode : int64_t {
  kAdd = 0,
  kSub = 1,
  kMul = 2,
  kDiv = 3,
  kMax = 4,
  kMin = 5,
  kPow = 6,
  kSubReversed = 7,  // x2 - x1
  kDivReversed = 8,
  kPowReversed = 9,
  kLess = 10,  // 1 where it holds, else 0
  kLessOrEqual = 11,
  kLessReversed = 12,
  kLessOrEqualReversed = 13,
  kEqual = 14,
  kIfAbove = 15,   // x1 where it is above x2, else 0
  kSlope = 16,     // x1, times x2 where it is below 0; x1 has the output's shape
  kNumberOr = 17,  // x1, or x2 where it is NaN; x1 has the output's shape
};

// Dims N, H, W, C of a view.
void put_nhwc(const Nhwc& view, Dims& dims);
// The node's fused activation as act, act_lo, act_hi; another one of the call with `stem` before
// these names.
void put_activation(const Activation& activation, LoweredCall& lowered, std::string_view stem = "");
// f32, f16 and bf16 alone live on the device.
bool on_device(DType dtype);
// `view`, or the other one where the shape does not allow it.
View usable_view(const Shape& shape, View view);

// y = act(x), in whichever view x has.
Lowering lower_unary(const OpCall& call, const Activation& activation, View preferred);
// y = the function at place `code` of kernels/functions.h, in the same way.
Lowering lower_function(const OpCall& call, int64_t code, View preferred);
// y = x1 (op) x2, with x1 of the output's shape (repeated to it first where neither operand has it)
// and x2 broadcast to it; operands are swapped where only the right one has that shape.
Lowering lower_binary(const OpCall& call, EltwiseCode code, View preferred);
// The output is input 0's bytes on the device, read under another shape or order.
Lowering lower_alias(View input, View output);
// Whether the axes that `view` merges into n are all those of `out` or all 1.
bool merges_alike(const Shape& shape, const Shape& out, const View& view);
// A temporary: input `input` of `shape` repeated to `out`. nullopt: too many axes.
std::optional<LoweredCall> repeat_call(int input, const Shape& shape, const Shape& out,
                                       const View& view);
// x1 of `shape`, x2 of `second`; no activation, inputs left to the caller.
LoweredCall binary_call(const Shape& shape, const Shape& second, EltwiseCode code,
                        const View& view);

// The last two axes of an input as a matrix; `transposed` of rank 2 only.
struct MatrixOperand {
  int input = 0;
  Shape shape;                    // logical, rank >= 2
  int64_t rows = 0, columns = 0;  // as it takes part in the product
  bool transposed = false;
};
// alpha * left * right for each of the broadcast outer axes, as the node's output without an
// activation.
Lowering lower_bmm(const OpCall& call, const MatrixOperand& left, const MatrixOperand& right,
                   double alpha);
// The output of `product` is only a part: scale times input `term`, broadcast, is added to it, and
// the node's activation applied.
Lowering then_add(const OpCall& call, Lowering product, int term, double scale);

// Rows of the first input (its last axis is K) times constant weights.
Lowering lower_gemm(const OpCall& call, int64_t m, int64_t n, int64_t k,
                    std::vector<LoweredConstant> constants);

}  // namespace clvet
