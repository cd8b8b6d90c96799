#include "runtime/ops/support/lowering.h"

#include "runtime/ops/support/shapes.h"

namespace clvet {
namespace {

Shape padded(const Shape& shape, size_t rank) {
  Shape out(rank - shape.size(), 1);
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

// Axes merged into n must be broadcast together.
bool merges(const Shape& shape, const Shape& out) {
  bool all = true, none = true;
  for (size_t i = 0; i + 3 < shape.size(); ++i) {
    if (shape[i] != out[i]) all = false;
    if (shape[i] != 1) none = false;
  }
  return all || none;
}

bool single_constant(const OpInput& input) { return input.value && input.value->elements() == 1; }

EltwiseCode reversed(EltwiseCode code) {
  switch (code) {
    case EltwiseCode::kSub:
      return EltwiseCode::kSubReversed;
    case EltwiseCode::kDiv:
      return EltwiseCode::kDivReversed;
    case EltwiseCode::kPow:
      return EltwiseCode::kPowReversed;
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

}  // namespace

void put_nhwc(const Nhwc& view, Dims& dims) {
  dims["N"] = view.n;
  dims["H"] = view.h;
  dims["W"] = view.w;
  dims["C"] = view.c;
}

void put_activation(const Activation& activation, Lowering& lowering) {
  lowering.dims["act"] = static_cast<int64_t>(activation.act);
  lowering.scalars["act_lo"] = activation.lo;
  lowering.scalars["act_hi"] = activation.hi;
}

bool on_device(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF16; }

View usable_view(const Shape& shape, View view) {
  return view_of(shape, view) ? view : View::kChannelsLast;
}

Lowering lower_unary(const OpCall& call, const Activation& activation, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("not a float tensor");
  if (call.node.activation.act != Act::kNone) return host_only("two activations in one node");
  Lowering lowering;
  lowering.kind = LoweringKind::kKernel;
  lowering.op = "eltwise_unary";
  const View view = usable_view(call.shape(0), preferred);
  put_nhwc(*view_of(call.shape(0), view), lowering.dims);
  put_activation(activation, lowering);
  lowering.inputs = {{"x", 0, view}};
  lowering.output = view;
  return lowering;
}

Lowering lower_binary(const OpCall& call, EltwiseCode code, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("not float tensors");
  const auto out = broadcast(call.shape(0), call.shape(1));
  if (!out) return host_only(out.error().message);
  const bool scalar_left = single_constant(call.inputs[0]);
  if (const auto activation = affine(call, code); activation) {
    Node plain = call.node;
    plain.activation = {};
    const OpCall unary{plain, {call.inputs[scalar_left ? 1 : 0]}};
    if (unary.shape(0) == *out) {
      Lowering lowering = lower_unary(unary, *activation, preferred);
      lowering.inputs[0].input = scalar_left ? 1 : 0;
      return lowering;
    }
  }
  const bool swap = call.shape(0) != *out && call.shape(1) == *out;
  const int first = swap ? 1 : 0;
  if (swap) code = reversed(code);
  const Shape x = padded(call.shape(first), out->size());
  const Shape x2 = padded(call.shape(1 - first), out->size());
  if (x != *out) return host_only("both operands are broadcast");
  const View view = usable_view(*out, preferred);
  if (view == View::kChannelsLast && !merges(x2, *out)) {
    return host_only("broadcast over some of the outer axes");
  }
  Lowering lowering;
  lowering.kind = LoweringKind::kKernel;
  lowering.op = "eltwise_binary";
  put_nhwc(*view_of(x, view), lowering.dims);
  const Nhwc other = *view_of(x2, view);
  lowering.dims["N2"] = other.n;
  lowering.dims["H2"] = other.h;
  lowering.dims["W2"] = other.w;
  lowering.dims["C2"] = other.c;
  lowering.dims["code"] = static_cast<int64_t>(code);
  put_activation(call.node.activation, lowering);
  lowering.inputs = {{"x1", first, view}, {"x2", 1 - first, view}};
  lowering.output = view;
  return lowering;
}

Lowering lower_gemm(const OpCall& call, int64_t m, int64_t n, int64_t k,
                    std::vector<LoweredConstant> constants) {
  Lowering lowering;
  lowering.kind = LoweringKind::kKernel;
  lowering.op = "gemm";
  const Nhwc rows = *view_of(call.shape(0), View::kChannelsLast);
  lowering.dims = {{"M", m}, {"N", n}, {"K", k}, {"W", rows.w}};
  put_activation(call.node.activation, lowering);
  lowering.inputs = {{"x", 0, View::kChannelsLast}};
  lowering.constants = std::move(constants);
  lowering.output = View::kChannelsLast;
  return lowering;
}

Lowering lower_alias(View input, View output) {
  Lowering lowering;
  lowering.kind = LoweringKind::kAlias;
  lowering.inputs = {{"x", 0, input}};
  lowering.output = output;
  return lowering;
}

Lowering lower_reshape(const OpCall& call) {
  if (!on_device(call.type(0).dtype)) return host_only("not a float tensor");
  const auto types = call.node.def->infer(call);
  if (!types) return host_only("the shape is computed at run time");
  const Shape &from = call.shape(0), &to = (*types)[0].shape;
  if (!from.empty() && !to.empty() && from.back() == to.back()) {
    return lower_alias(View::kChannelsLast, View::kChannelsLast);
  }
  const auto only_channels = [](const Shape& shape) {
    return shape.size() >= 2 && shape.size() <= 4 && elements_of(shape) == shape[0] * shape[1];
  };
  // [N,C,1,1] and [N,C] are one thing in channels-last layout.
  if (only_channels(from) && only_channels(to) && from[0] == to[0]) {
    return lower_alias(View::kChannelsFirst, View::kChannelsFirst);
  }
  return host_only("the reshape moves elements between channels");
}

}  // namespace clvet
