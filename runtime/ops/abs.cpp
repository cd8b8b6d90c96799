// Abs, Neg, Sign: also on integers.
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_abs {
namespace {

// Of zero, too: its sign changes.
template <class T>
T negated(T v) {
  if constexpr (std::is_floating_point_v<T>) return -v;
  return wrap_sub(T{0}, v);
}

template <class T>
T absolute(T v) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(v);
  return v < 0 ? wrap_sub(T{0}, v) : v;
}

// NaN stays.
template <class T>
T sign(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) return v;
  }
  return static_cast<T>((v > 0) - (v < 0));
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& x = call.tensor(0);
  const std::string& op = call.node.op;
  return visit_numbers(x.dtype(), [&]<class T>() {
    if (op == "Neg")
      map_unary<T, T>(x, outputs[0], negated<T>);
    else if (op == "Sign")
      map_unary<T, T>(x, outputs[0], sign<T>);
    else
      map_unary<T, T>(x, outputs[0], absolute<T>);
  });
}

// LeakyRelu with a slope of -1 below 0 is the magnitude.
std::vector<Term> steps(Steps& s) {
  const std::string& op = s.call().node.op;
  if (op == "Abs") return {s.one("LeakyRelu", {s.input(0)}, {{"alpha", -1.0}})};
  if (op == "Neg") return {s.one("Mul", {s.input(0), number(-1)})};
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Abs", "Neg", {"Sign", 9}},
    .since = 6,
    .types = "fiu",
    .infer = infer_same,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_abs
