// LRN: divided by a power of the squares in a window of channels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_lrn {
namespace {

Result<Types> infer(const OpCall& call) {
  if (call.shape(0).size() < 2) return bad_shape(call, 0);
  const int64_t size = call.node.int_attr("size", 0);
  if (size < 1) return bad_attribute(call, "size", size);
  return infer_same(call);
}

template <class T>
void run(const OpCall& call, Tensor& out) {
  const AxisSpan span(call.shape(0), 1);
  const int64_t size = std::min(call.node.int_attr("size", 1), 2 * span.extent + 1);
  const double alpha =
      call.node.float_attr("alpha", 1e-4) / static_cast<double>(call.node.int_attr("size", 1));
  const double beta = call.node.float_attr("beta", 0.75), bias = call.node.float_attr("bias", 1);
  for (int64_t row = 0; row < span.outer * span.inner; ++row) {
    const int64_t at = row / span.inner * span.extent * span.inner + row % span.inner;
    const T* x = call.tensor(0).data<T>() + at;
    T* y = out.data<T>() + at;
    for (int64_t c = 0; c < span.extent; ++c) {
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(span.extent - 1, c + size / 2);
      double squares = 0;
      for (int64_t k = first; k <= last; ++k) {
        const auto value = static_cast<double>(x[k * span.inner]);
        squares += value * value;
      }
      const double factor = std::pow(bias + alpha * squares, -beta);
      y[c * span.inner] = static_cast<T>(static_cast<double>(x[c * span.inner]) * factor);
    }
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_floats(call.type(0).dtype, [&]<class T>() { run<T>(call, outputs[0]); });
}

// The mean of the squares in a window of channels is that of a pool whose padding counts.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const AxisSpan span(call.shape(0), 1);
  const int64_t size = call.node.int_attr("size", 1);
  if (size > span.extent) return {};
  const Term x = s.reshaped(s.input(0), {span.outer, 1, span.extent, span.inner});
  const std::vector<int64_t> window{size, 1}, pads{(size - 1) / 2, 0, size / 2, 0};
  const Term squares =
      s.one("AveragePool", {s.one("Mul", {x, x})},
            {{"kernel_shape", window}, {"pads", pads}, {"count_include_pad", int64_t{1}}});
  const Term alpha = number(call.node.float_attr("alpha", 1e-4)),
             bias = number(call.node.float_attr("bias", 1)),
             beta = number(call.node.float_attr("beta", 0.75));
  const Term factor = s.one("Pow", {s.one("Add", {s.one("Mul", {squares, alpha}), bias}), beta});
  return {s.reshaped(s.one("Div", {x, factor}), call.shape(0))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"LRN"},
    .attributes = "alpha:f beta:f bias:f size:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_lrn
