// GlobalAveragePool, GlobalMaxPool.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_global_pool {
namespace {

Result<Types> infer(const OpCall& call) {
  Shape shape = call.shape(0);
  if (shape.size() < 2) {
    return fail(ErrorCode::kInvalidArgument, "{} does not take an input of the shape {}",
                call.node.op, to_string(shape));
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  return Types{{call.type(0).dtype, shape}};
}

// Values that are worth waking a thread.
constexpr int64_t kGrain = 20'000;

// Of sums side by side, in float64.
template <class T>
T mean(const T* x, int64_t count) {
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t k = 0; k < kSums; ++k) sums[k] += static_cast<double>(x[i + k]);
  }
  for (; i < count; ++i) sums[0] += static_cast<double>(x[i]);
  return static_cast<T>(std::accumulate(sums, sums + kSums, 0.0) / static_cast<double>(count));
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& x = call.tensor(0);
  const int64_t planes = outputs[0].elements();
  const int64_t size = planes ? x.elements() / planes : 0;
  if (size == 0) return {};
  return visit_floats(x.dtype(), [&]<class T>() {
    T* y = outputs[0].data<T>();
    const bool max = call.node.op == "GlobalMaxPool";
    parallel_for(planes, 1 + kGrain / size, [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p) {
        const T* in = x.data<T>() + p * size;
        y[p] = max ? std::accumulate(in, in + size, in[0], larger<T>) : mean(in, size);
      }
    });
  });
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto view = view_of(call.shape(0), View::kChannelsFirst);
  if (!view) return host_only("kernels support at most two spatial axes");
  LoweredCall lowered;
  lowered.op = "pool_global";
  put_nhwc(*view, lowered.dims);
  lowered.dims["kind"] = call.node.op == "GlobalMaxPool" ? 0 : 1;
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GlobalAveragePool", "GlobalMaxPool"},
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_global_pool
