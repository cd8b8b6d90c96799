// Range.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_range {
namespace {

// Of int64, whose ends and distances no double holds.
uint64_t exact_count(int64_t start, int64_t limit, int64_t delta) {
  const bool up = delta > 0;
  if (up ? limit <= start : limit >= start) return 0;
  const uint64_t from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
  const uint64_t span = up ? to - from : from - to;
  const uint64_t pace = up ? static_cast<uint64_t>(delta) : -static_cast<uint64_t>(delta);
  return (span - 1) / pace + 1;
}

Result<int64_t> count_of(const OpCall& call) {
  double v[3];
  int64_t whole[3] = {};
  const bool integers = !is_float(call.type(0).dtype);
  for (size_t i = 0; i < 3; ++i) {
    if (!call.inputs[i].value) {
      return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", i);
    }
    if (call.inputs[i].value->elements() != 1) {
      return fail(ErrorCode::kInvalidArgument, "Range takes only single numbers");
    }
    v[i] = call.inputs[i].value->to_f64()[0];
    if (integers) whole[i] = call.inputs[i].value->to_i64()[0];
  }
  double count = std::ceil((v[1] - v[0]) / v[2]);
  if (integers && v[2] != 0) count = static_cast<double>(exact_count(whole[0], whole[1], whole[2]));
  if (v[2] == 0 || !(count < 1e12)) {
    return fail(ErrorCode::kInvalidArgument, "Range cannot go from {} to {} in steps of {}", v[0],
                v[1], v[2]);
  }
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t count, count_of(call));
  return Types{{call.type(0).dtype, {count}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    const T start = *call.tensor(0).data<T>(), step = *call.tensor(2).data<T>();
    T* y = outputs[0].data<T>();
    for (int64_t i = 0; i < outputs[0].elements(); ++i) {
      y[i] = wrap_add(start, wrap_mul(static_cast<T>(i), step));
    }
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Range"},
    .since = 11,
    .inputs = "T T T",
    .types = "fi",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_range
