// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift.
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_bitwise {
namespace {

Result<Types> infer(const OpCall& call) {
  const bool one = call.node.op == "BitwiseNot";
  if (one ? call.inputs.size() != 1 : !call.has(1)) return bad_shape(call, call.inputs.size() - 1);
  if (call.node.op == "BitShift") {
    if (!call.node.attributes.contains("direction")) return missing_attribute(call, "direction");
    const DType dtype = call.type(0).dtype;
    if (dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 || dtype == DType::kI64)
      return bad_type(call, 0);
  }
  return infer_broadcast(call);
}

// 0 where all bits leave.
template <class T>
T shifted(T value, T by, bool left) {
  if (static_cast<uint64_t>(by) >= sizeof(T) * 8) return 0;
  const auto bits = static_cast<uint64_t>(value);
  return static_cast<T>(left ? bits << by : bits >> by);
}

template <class T>
void run(const OpCall& call, Tensor& out) {
  const std::string& op = call.node.op;
  const Tensor& a = call.tensor(0);
  if (op == "BitwiseNot") {
    map_unary<T, T>(a, out, [](T x) { return static_cast<T>(~x); });
    return;
  }
  const bool left = call.node.string_attr("direction", "") == "LEFT";
  const auto map = [&](auto fn) { map_binary<T, T, T>(a, call.tensor(1), out, fn); };
  if (op == "BitwiseAnd")
    map([](T x, T y) { return static_cast<T>(x & y); });
  else if (op == "BitwiseOr")
    map([](T x, T y) { return static_cast<T>(x | y); });
  else if (op == "BitwiseXor")
    map([](T x, T y) { return static_cast<T>(x ^ y); });
  else
    map([left](T x, T y) { return shifted(x, y, left); });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) run<T>(call, outputs[0]);
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names =
        {{"BitwiseAnd", 18}, {"BitwiseOr", 18}, {"BitwiseXor", 18}, {"BitwiseNot", 18}, "BitShift"},
    .since = 11,
    .inputs = "T T?",
    .types = "iu",
    .attributes = "direction:s=LEFT|RIGHT",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_bitwise
