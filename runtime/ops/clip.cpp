// Clip: bounds as attributes (before opset 11) or as optional inputs.
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_clip {
namespace {

Result<Types> infer(const OpCall& call) {
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!call.has(i) || elements_of(call.shape(i)) <= 1) continue;
    return fail(ErrorCode::kInvalidArgument, "Clip's bound must be a single number, not {}",
                to_string(call.shape(i)));
  }
  return infer_same(call);
}

template <class T>
T bound(const OpCall& call, size_t input, const char* attribute, T fallback) {
  if (call.has(input))
    return call.tensor(input).elements() ? *call.tensor(input).data<T>() : fallback;
  const double given = call.node.float_attr(attribute, static_cast<double>(fallback));
  if constexpr (std::is_integral_v<T>) return saturated<T>(given);
  return static_cast<T>(given);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    T lo = std::numeric_limits<T>::lowest(), hi = std::numeric_limits<T>::max();
    if (call.has(1) || call.node.attributes.contains("min")) lo = bound<T>(call, 1, "min", lo);
    if (call.has(2) || call.node.attributes.contains("max")) hi = bound<T>(call, 2, "max", hi);
    map_unary<T, T>(call.tensor(0), outputs[0], [&](T x) {
      const T raised = x < lo ? lo : x;
      return raised > hi ? hi : raised;
    });
  });
}

Lowering lower(const OpCall& call, View preferred) {
  double limits[2] = {-3.4028234663852886e38, 3.4028234663852886e38};
  for (size_t i = 0; i < 2; ++i) {
    limits[i] = call.node.float_attr(i ? "max" : "min", limits[i]);
    if (!call.has(i + 1)) continue;
    if (!call.inputs[i + 1].value) return host_only("its bounds are computed at run time");
    const std::vector<double> value = call.inputs[i + 1].value->to_f64();
    if (!value.empty()) limits[i] = value[0];
  }
  return lower_unary(call, {Act::kClip, limits[0], limits[1]}, preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Clip"},
    .since = 6,
    .inputs = "T T? T?",
    .types = "fiu",
    .wants_known = {1, 2},
    .attributes = "min:f max:f",
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_clip
