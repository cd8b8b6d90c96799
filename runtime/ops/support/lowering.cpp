#include "runtime/ops/support/lowering.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/movement.h"

namespace clvet {
namespace {

bool single_constant(const OpInput& input) { return input.value && input.value->elements() == 1; }

EltwiseCode reversed(EltwiseCode code) {
  switch (code) {
    case EltwiseCode::kSub:
      return EltwiseCode::kSubReversed;
    case EltwiseCode::kDiv:
      return EltwiseCode::kDivReversed;
    case EltwiseCode::kPow:
      return EltwiseCode::kPowReversed;
    case EltwiseCode::kLess:
      return EltwiseCode::kLessReversed;
    case EltwiseCode::kLessOrEqual:
      return EltwiseCode::kLessOrEqualReversed;
    default:
      return code;
  }
}

// x (op) constant as alpha * x + beta.
std::optional<Activation> affine_alone(const OpCall& call, EltwiseCode code) {
  const bool right = single_constant(call.inputs[1]);
  if (right == single_constant(call.inputs[0])) return std::nullopt;
  const double value = call.inputs[right ? 1 : 0].value->to_f64()[0];
  switch (code) {
    case EltwiseCode::kAdd:
      return Activation{Act::kAffine, 1, value};
    case EltwiseCode::kMul:
      return Activation{Act::kAffine, value, 0};
    case EltwiseCode::kSub:
      return right ? Activation{Act::kAffine, 1, -value} : Activation{Act::kAffine, -1, value};
    case EltwiseCode::kDiv:
      if (right && value != 0) return Activation{Act::kAffine, 1 / value, 0};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// The same with the node's own activation, where that is affine, too.
std::optional<Activation> affine(const OpCall& call, EltwiseCode code) {
  auto first = affine_alone(call, code);
  const Activation& then = call.node.activation;
  if (!first || then.act == Act::kNone) return first;
  if (then.act != Act::kAffine) return std::nullopt;
  return Activation{Act::kAffine, first->lo * then.lo, first->hi * then.lo + then.hi};
}

// nullopt where it takes more than an activation of the operand that has the output's shape.
std::optional<Lowering> lower_as_unary(const OpCall& call, EltwiseCode code, const Shape& out,
                                       View preferred) {
  const auto activation = affine(call, code);
  if (!activation) return std::nullopt;
  const int operand = single_constant(call.inputs[0]) ? 1 : 0;
  Node plain = call.node;
  plain.activation = {};
  const OpCall unary{plain, {call.inputs[static_cast<size_t>(operand)]}};
  if (unary.shape(0) != out) return std::nullopt;
  Lowering lowering = lower_unary(unary, *activation, preferred);
  if (lowering.kind == LoweringKind::kKernel) lowering.calls[0].inputs[0].input = operand;
  return lowering;
}

View matrix_view(const MatrixOperand& matrix) {
  return matrix.transposed ? View::of({1, 0}) : View::kChannelsLast;
}

// With 1 for the two axes of the matrices.
Shape outer_axes(Shape shape) {
  std::fill(shape.end() - 2, shape.end(), int64_t{1});
  return shape;
}

// The products of matrices in `batches`, of which the right ones lie in `second`; inputs left to
// the caller.
LoweredCall bmm_call(const MatrixOperand& left, const MatrixOperand& right, const Shape& batches,
                     const Shape& second, double alpha) {
  const View last = View::kChannelsLast;
  const Nhwc x = *view_of(batches, last), x2 = *view_of(second, last);
  LoweredCall lowered;
  lowered.op = "bmm";
  lowered.dims = {{"N", x.n},           {"H", x.h},   {"M", left.rows}, {"K", left.columns},
                  {"C", right.columns}, {"N2", x2.n}, {"H2", x2.h}};
  put_activation(alpha == 1 ? Activation{} : Activation{Act::kAffine, alpha, 0}, lowered);
  lowered.view = last;
  return lowered;
}

std::optional<Lowering> refused_map(const OpCall& call) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  if (call.node.activation.act != Act::kNone) return host_only("kernels apply only one activation");
  return std::nullopt;
}

// Operation `op` on each element of input 0.
LoweredCall map_call(const OpCall& call, const char* op, View preferred) {
  LoweredCall lowered;
  lowered.op = op;
  const View view = usable_view(call.shape(0), preferred);
  put_nhwc(*view_of(call.shape(0), view), lowered.dims);
  lowered.inputs = {{"x", 0, view}};
  lowered.view = view;
  return lowered;
}

// A temporary: input `input` of `shape`, times `scale`.
LoweredCall scaled_call(int input, const Shape& shape, double scale) {
  LoweredCall scaled;
  scaled.op = "eltwise_unary";
  put_nhwc(*view_of(shape, View::kChannelsLast), scaled.dims);
  put_activation({Act::kAffine, scale, 0}, scaled);
  scaled.inputs = {{"x", input, View::kChannelsLast, shape.size()}};
  scaled.view = View::kChannelsLast;
  scaled.output = kTemporary;
  scaled.temporary = shape;
  return scaled;
}

}  // namespace

bool merges_alike(const Shape& shape, const Shape& out, const View& view) {
  const std::vector<int64_t> order = view.order(shape.size());
  bool all = true, none = true;
  for (size_t i = 0; i + 3 < order.size(); ++i) {
    const auto axis = static_cast<size_t>(order[i]);
    if (shape[axis] != out[axis]) all = false;
    if (shape[axis] != 1) none = false;
  }
  return all || none;
}

std::optional<LoweredCall> repeat_call(int input, const Shape& shape, const Shape& out,
                                       const View& view) {
  const auto x = view_of(shape, view);
  if (!x) return std::nullopt;
  const std::vector<Step> steps = steps_of(shape, view);
  std::vector<MovedAxis> axes;
  for (size_t i = 0; i < out.size(); ++i) {
    axes.push_back({out[i], shape[i] == 1 ? Step{} : steps[i], i});
  }
  auto call = move_call(*x, out, view, axes, {});
  if (!call) return std::nullopt;
  call->inputs = {{"x", input, view, out.size()}};
  call->output = kTemporary;
  return call;
}

void put_nhwc(const Nhwc& view, Dims& dims) {
  dims["N"] = view.n;
  dims["H"] = view.h;
  dims["W"] = view.w;
  dims["C"] = view.c;
}

void put_activation(const Activation& activation, LoweredCall& lowered, std::string_view stem) {
  const std::string act = std::string(stem) + "act";
  lowered.dims[act] = static_cast<int64_t>(activation.act);
  lowered.scalars[act + "_lo"] = activation.lo;
  lowered.scalars[act + "_hi"] = activation.hi;
}

bool on_device(DType dtype) { return dtype == DType::kF32 || is_short_float(dtype); }

View usable_view(const Shape& shape, View view) {
  return view_of(shape, view) ? view : View::kChannelsLast;
}

Lowering lower_unary(const OpCall& call, const Activation& activation, View preferred) {
  if (auto refused = refused_map(call)) return std::move(*refused);
  LoweredCall lowered = map_call(call, "eltwise_unary", preferred);
  put_activation(activation, lowered);
  return kernel_call(std::move(lowered));
}

Lowering lower_function(const OpCall& call, int64_t code, View preferred) {
  if (auto refused = refused_map(call)) return std::move(*refused);
  LoweredCall lowered = map_call(call, "eltwise_function", preferred);
  lowered.dims["code"] = code;
  return kernel_call(std::move(lowered));
}

Lowering lower_binary(const OpCall& call, EltwiseCode code, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensors are not of a float type");
  const auto out = broadcast(call.shape(0), call.shape(1));
  if (!out) return host_only(out.error().message);
  if (auto unary = lower_as_unary(call, code, *out, preferred)) return std::move(*unary);
  const bool swap = call.shape(0) != *out && call.shape(1) == *out;
  const int first = swap ? 1 : 0;
  if (swap) code = reversed(code);
  const Shape x = padded_shape(call.shape(first), out->size());
  const Shape x2 = padded_shape(call.shape(1 - first), out->size());
  const View view = usable_view(*out, preferred);
  if (!merges_alike(x2, *out, view)) return host_only("it broadcasts only some of the outer axes");
  std::vector<LoweredCall> calls;
  LoweredInput x1{"x1", first, view, out->size()};
  if (x != *out) {
    auto repeat = repeat_call(first, x, *out, view);
    if (!repeat) return host_only(kTooManyAxes);
    calls.push_back(std::move(*repeat));
    x1 = {"x1", -1, View::kChannelsLast};
  }
  calls.push_back(binary_call(*out, x2, code, view));
  put_activation(call.node.activation, calls.back());
  calls.back().inputs = {x1, {"x2", 1 - first, view, out->size()}};
  return kernel_calls(std::move(calls));
}

Lowering lower_gemm(const OpCall& call, int64_t m, int64_t n, int64_t k,
                    std::vector<LoweredConstant> constants) {
  LoweredCall lowered;
  lowered.op = "gemm";
  const Nhwc rows = *view_of(call.shape(0), View::kChannelsLast);
  lowered.dims = {{"M", m}, {"N", n}, {"K", k}, {"W", rows.w}};
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x", 0, View::kChannelsLast}};
  lowered.constants = std::move(constants);
  lowered.view = View::kChannelsLast;
  return kernel_call(std::move(lowered));
}

LoweredCall binary_call(const Shape& shape, const Shape& second, EltwiseCode code,
                        const View& view) {
  LoweredCall lowered;
  lowered.op = "eltwise_binary";
  put_nhwc(*view_of(shape, view), lowered.dims);
  const Nhwc other = *view_of(second, view);
  lowered.dims["N2"] = other.n;
  lowered.dims["H2"] = other.h;
  lowered.dims["W2"] = other.w;
  lowered.dims["C2"] = other.c;
  lowered.dims["code"] = static_cast<int64_t>(code);
  put_activation({}, lowered);
  lowered.view = view;
  return lowered;
}

Lowering lower_bmm(const OpCall& call, const MatrixOperand& left, const MatrixOperand& right,
                   double alpha) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const size_t rank = std::max(left.shape.size(), right.shape.size());
  const Shape a = padded_shape(left.shape, rank), b = padded_shape(right.shape, rank);
  Shape batch_out = a;
  for (size_t i = 0; i + 2 < rank; ++i) batch_out[i] = std::max(a[i], b[i]);
  const View last = View::kChannelsLast;
  std::vector<LoweredCall> calls;
  LoweredInput x1{"x1", left.input, matrix_view(left), rank};
  if (a != batch_out) {
    if (left.transposed) return host_only("kernels do not repeat a transposed matrix");
    auto repeat = repeat_call(left.input, a, batch_out, last);
    if (!repeat) return host_only(kTooManyAxes);
    calls.push_back(std::move(*repeat));
    x1 = {"x1", -1, last};
  }
  const Shape batches = outer_axes(batch_out), second = outer_axes(b);
  if (!merges_alike(second, batches, last)) {
    return host_only("it broadcasts only some of the outer axes");
  }
  calls.push_back(bmm_call(left, right, batches, second, alpha));
  calls.back().inputs = {x1, {"x2", right.input, matrix_view(right), rank}};
  return kernel_calls(std::move(calls));
}

Lowering then_add(const OpCall& call, Lowering product, int term, double scale) {
  const Shape out = (*call.node.def->infer(call))[0].shape;
  const View last = View::kChannelsLast;
  const Shape second = padded_shape(call.shape(static_cast<size_t>(term)), out.size());
  if (!merges_alike(second, out, last))
    return host_only("it broadcasts only some of the outer axes");
  LoweredCall& before = product.calls.back();
  before.output = kTemporary;
  before.temporary = out;
  const int made = -static_cast<int>(product.calls.size());
  LoweredInput added{"x2", term, last, out.size()};
  if (scale != 1) {
    product.calls.push_back(scaled_call(term, second, scale));
    added.input = -static_cast<int>(product.calls.size());
  }
  LoweredCall sum = binary_call(out, second, EltwiseCode::kAdd, last);
  put_activation(call.node.activation, sum);
  sum.inputs = {{"x1", made, last}, added};
  product.calls.push_back(std::move(sum));
  return product;
}

Lowering lower_alias(View input, View output) {
  Lowering lowering;
  lowering.kind = LoweringKind::kAlias;
  lowering.source = {"x", 0, input};
  lowering.view = output;
  return lowering;
}

}  // namespace clvet
