// Mod: the sign of the divisor (fmod = 0, integers) or of the dividend (fmod = 1).
#include <cmath>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_mod {
namespace {

template <class T>
T floor_mod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    return static_cast<T>(a % b);
  }
}

template <class T>
T c_mod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else if constexpr (std::is_signed_v<T>) {
    return b == 0 || b == -1 ? T{0} : static_cast<T>(a % b);
  } else {
    return b == 0 ? T{0} : static_cast<T>(a % b);
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const bool fmod = call.node.int_attr("fmod", 0) != 0;
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      if (!fmod) return map_binary<T, T, T>(a, b, outputs[0], floor_mod<T>);
    }
    map_binary<T, T, T>(a, b, outputs[0], c_mod<T>);
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Mod"},
    .since = 10,
    .inputs = "T T",
    .types = "fiu",
    .attributes = "fmod:i",
    .infer = infer_broadcast,
    .host = host,
};

}  // namespace clvet::op_mod
