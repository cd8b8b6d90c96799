// ReverseSequence: the first elements of each sequence of a batch in reverse.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_reverse_sequence {
namespace {

Result<Types> infer(const OpCall& call) {
  const int64_t batch = call.node.int_attr("batch_axis", 1);
  const int64_t time = call.node.int_attr("time_axis", 0);
  if (call.shape(0).size() < 2) return bad_shape(call, 0);
  if (batch < 0 || batch > 1) return bad_attribute(call, "batch_axis", batch);
  if (time != 1 - batch) return bad_attribute(call, "time_axis", time);
  if (call.shape(1) != Shape{call.shape(0)[static_cast<size_t>(batch)]}) return misfit(call, 0, 1);
  return infer_same(call);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const auto lengths, call.integers(1));
  const bool batch_first = call.node.int_attr("batch_axis", 1) == 0;
  const Shape& x = call.shape(0);
  const int64_t steps = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1];
  const size_t block = outputs[0].bytes() / static_cast<size_t>(steps * batch);
  for (const int64_t length : lengths) {
    if (length < 0 || length > steps) return index_outside(call);
  }
  const auto place = [&](int64_t b, int64_t t) {
    return static_cast<size_t>(batch_first ? b * steps + t : t * batch + b) * block;
  };
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t from = t < length ? length - 1 - t : t;
      std::memcpy(outputs[0].raw() + place(b, t), call.tensor(0).raw() + place(b, from), block);
    }
  }
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const Shape& x = call.shape(0);
  if (!infer(call) || elements_of(x) == 0 || elements_of(x) > kMostPicked) return {};
  const bool batch_first = call.node.int_attr("batch_axis", 1) == 0;
  const int64_t steps = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1];
  const auto along = [&](const Term& term, bool is_batch) {
    const int64_t count = is_batch ? batch : steps;
    return s.reshaped(term, is_batch == batch_first ? Shape{count, 1} : Shape{1, count});
  };
  const Term length = along(numbers_inside(s, s.input(1), steps + 1, false), true);
  const Term time = along(counted(steps), false);
  const Term mirrored = s.one("Sub", {s.one("Sub", {length, integers({1})}), time});
  const Term from = s.one("Where", {s.one("Less", {time, length}), mirrored, time});
  const Term row = s.one("Add", {s.one("Mul", {from, integers({batch_first ? 1 : batch})}),
                                 along(counted(batch, batch_first ? steps : 1), true)});
  return {
      picked(s, s.reshaped(s.input(0), {steps * batch, elements_of(x) / (steps * batch)}), row, x)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ReverseSequence"},
    .since = 10,
    .inputs = "* l",
    .attributes = "batch_axis:i time_axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_reverse_sequence
