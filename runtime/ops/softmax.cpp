// Softmax, LogSoftmax, Hardmax. Before opset 13 all axes from `axis` on are one.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/activation.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/extremes.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_softmax {
namespace {

// Values that are worth waking a thread.
constexpr int64_t kGrain = 10'000;

struct Split {
  int64_t axis = 0;
  int64_t outer = 1, length = 1, inner = 1;
};

Result<Split> split_of(const OpCall& call) {
  const Shape& shape = call.shape(0);
  const bool flat = call.node.opset < 13;
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0) return Split{};
  const int64_t given = call.node.int_attr("axis", flat ? 1 : -1);
  // Of a vector, the older versions' default makes a column.
  const bool column = flat && rank == 1 && given == 1;
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(given, column ? 2 : rank));
  Split split{.axis = axis};
  for (int64_t i = 0; i < rank; ++i) {
    int64_t& part = i < axis ? split.outer : (i == axis || flat ? split.length : split.inner);
    part *= shape[i];
  }
  return split;
}

Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(split_of(call).map([](const Split&) {}));
  return infer_same(call);
}

// The values of a row less their largest, which makes exp() fit; then exp().
template <class T>
void exponentials(const T* x, T top, int64_t length, int64_t step, T* y) {
  for (int64_t i = 0; i < length; ++i) y[i * step] = x[i * step] - top;
  if constexpr (std::is_same_v<T, float>) {
    if (step == 1) return activate({Act::kExp}, y, length);
  }
  for (int64_t i = 0; i < length; ++i) y[i * step] = std::exp(y[i * step]);
}

template <class T>
void one(const std::string& op, const T* x, T* y, int64_t length, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 1; i < length; ++i) {
    if (x[i * step] > x[best * step]) best = i;
  }
  if (op == "Hardmax") {
    for (int64_t i = 0; i < length; ++i) y[i * step] = static_cast<T>(i == best);
    return;
  }
  const T top = x[best * step];
  exponentials(x, top, length, step, y);
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += static_cast<double>(y[i * step]);
  if (op == "Softmax") {
    const auto scale = static_cast<T>(1 / sum);
    for (int64_t i = 0; i < length; ++i) y[i * step] *= scale;
  } else {
    const auto log_sum = static_cast<T>(std::log(sum));
    for (int64_t i = 0; i < length; ++i) y[i * step] = x[i * step] - top - log_sum;
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Split split, split_of(call));
  if (outputs[0].elements() == 0) return {};
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    const int64_t grain = 1 + kGrain / split.length;
    parallel_for(split.outer * split.inner, grain, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        const int64_t at = i / split.inner * split.length * split.inner + i % split.inner;
        one(call.node.op, call.tensor(0).data<T>() + at, outputs[0].data<T>() + at, split.length,
            split.inner);
      }
    });
  });
}

Lowering lower(const OpCall& call, View) {
  if (call.node.op != "Softmax") return no_kernel(call);
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const Shape& shape = call.shape(0);
  const auto split = split_of(call);
  if (!split) return host_only(split.error().message);
  const size_t rank = shape.size();
  if (rank == 0) return host_only("the tensor is a scalar");
  if (rank > kMaxViewRank) return host_only("a tensor has too many axes");
  const auto axis = static_cast<size_t>(split->axis);
  if (axis >= rank || shape[axis] != split->length) {
    return host_only("the softmax is over several axes");
  }
  const View view = View::with_channels(split->axis, rank);
  LoweredCall lowered;
  lowered.op = "softmax";
  const Nhwc rows = *view_of(shape, view);
  lowered.dims = {{"M", rows.n * rows.h * rows.w}, {"W", rows.w}, {"C", rows.c}};
  lowered.inputs = {{"x", 0, view}};
  lowered.view = view;
  return kernel_call(std::move(lowered));
}

// LogSoftmax, Hardmax, and a Softmax over several axes, which become one.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto split = split_of(call);
  if (!split || call.shape(0).empty() || elements_of(call.shape(0)) == 0) return {};
  const Shape rows{split->outer, split->length, split->inner};
  Term x = s.reshaped(s.input(0), rows);
  if (call.node.op == "Hardmax") {
    if (split->length > kLongestCounted) return {};
    const Extremes found = extremes(s, x, 1, false, false);
    x = s.one("IsEqual", {found.ranks, found.best});
  } else if (call.node.op == "Softmax") {
    x = s.one("Softmax", {x}, {{"axis", int64_t{1}}});
  } else {
    x = s.one("Sub", {x, s.reduced("ReduceMax", x, {1})});
    x = s.one("Sub", {x, s.reduced("ReduceLogSumExp", x, {1})});
  }
  return {s.reshaped(x, call.shape(0))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Softmax", "LogSoftmax", "Hardmax"},
    .attributes = "axis:i",
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_softmax
