// ConvSums and MatMulSums: sums of products of integers, as floats
// (runtime/ops/contract/steps_domain.h). The host sums integers; a device sums levels, which is
// exact below 2^24.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_float_sums {
namespace {

enum Input : size_t { kX, kW, kXZero, kWZero, kAdded };

bool is_conv(const OpCall& call) { return call.node.op == kConvSums; }

std::vector<Term> integer_steps(Steps& s) {
  const OpCall& call = s.call();
  Term sums =
      s.one(is_conv(call) ? "ConvInteger" : "MatMulInteger",
            {s.input(kX), s.input(kW), s.input(kXZero), s.input(kWZero)}, call.node.attributes);
  if (call.has(kAdded) && s.ok()) {
    if (call.type(kAdded).dtype != DType::kI32) return s.refuse(bad_type(call, kAdded));
    const auto both = broadcast(sums.shape(), call.shape(kAdded));
    if (!both || *both != sums.shape()) return s.refuse(misfit(call, kW, kAdded));
    sums = s.one("Add", {sums, s.input(kAdded)});
  }
  return {s.one("Cast", {sums}, {{"to", int64_t{1}}})};
}

// Input i less its zero point, which is one value or one for each index of `axis`.
Term centred(Steps& s, size_t i, int64_t axis) {
  const Term x = s.one(kAsFloats.data(), {s.input(i)});
  const Term zero = s.input(i + 2);
  if (!zero.present || !s.ok()) return x;
  const Term level = s.one(kAsFloats.data(), {zero});
  Shape shape;
  if (elements_of(zero.shape()) != 1) {
    shape.assign(x.shape().size(), 1);
    shape[static_cast<size_t>(axis)] = elements_of(zero.shape());
  }
  return s.one("Sub", {x, s.reshaped(level, shape)});
}

std::vector<Term> float_steps(Steps& s) {
  const OpCall& call = s.call();
  const auto rank = [&](size_t i) { return static_cast<int64_t>(call.shape(i).size()); };
  // The zero points of a vector's rows and the like stay with the host.
  if (rank(kX) < 2 || rank(kW) < 2) return {};
  const Term x = centred(s, kX, is_conv(call) ? 1 : rank(kX) - 2);
  const Term w = centred(s, kW, is_conv(call) ? 0 : rank(kW) - 1);
  Term sums = s.one(is_conv(call) ? "Conv" : "MatMul", {x, w}, call.node.attributes);
  if (call.has(kAdded)) sums = s.one("Add", {sums, s.one(kAsFloats.data(), {s.input(kAdded)})});
  return {sums};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kConvSums.data(), kMatMulSums.data()},
    .domain = kStepsDomain,
    .inputs = "* * *? *? *?",
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations:I group:i kernel_shape:I pads:I "
        "strides:I",
    .infer = infer_steps<integer_steps>,
    .host = host_steps<integer_steps>,
    .expand = float_steps,
};

}  // namespace clvet::op_float_sums
