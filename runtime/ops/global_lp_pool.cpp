// GlobalLpPool: the p-norm of all values of a channel.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_global_lp_pool {
namespace {

Result<Types> infer(const OpCall& call) {
  TensorType out = call.inputs[0].type;
  if (out.shape.size() < 3) return bad_shape(call, 0);
  const int64_t p = call.node.int_attr("p", 2);
  if (p < 1) return bad_attribute(call, "p", p);
  for (size_t i = 2; i < out.shape.size(); ++i) out.shape[i] = 1;
  return Types{out};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& x = call.tensor(0);
  const auto p = static_cast<double>(call.node.int_attr("p", 2));
  const int64_t channels = outputs[0].elements(), each = x.elements() / channels;
  const bool wide = x.dtype() == DType::kF64;
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int64_t i = c * each; i < (c + 1) * each; ++i)
      sum += std::pow(std::fabs(wide ? x.data<double>()[i] : x.data<float>()[i]), p);
    const double norm = std::pow(sum, 1 / p);
    if (wide)
      outputs[0].data<double>()[c] = norm;
    else
      outputs[0].data<float>()[c] = static_cast<float>(norm);
  }
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GlobalLpPool"},
    .since = 2,
    .attributes = "p:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_global_lp_pool
