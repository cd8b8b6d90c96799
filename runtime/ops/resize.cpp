// Resize (and Upsample): each axis has its own table of source positions and weights, applied one
// axis after the other.
#include <algorithm>
#include <cmath>

#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/resize.h"

namespace clvet {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const ResizePlan plan, resize_plan(call));
  TensorType out = call.type(0);
  for (size_t i = 0; i < out.shape.size(); ++i) out.shape[i] = plan.axes[i].out;
  return Types{out};
}

template <class T>
void apply(const ResizeAxis& axis, const Tensor& in, int64_t index, Tensor& out) {
  const int64_t outer = elements_of(std::span(in.shape()).first(index));
  const int64_t inner = elements_of(std::span(in.shape()).subspan(index + 1));
  std::vector<double> sums(static_cast<size_t>(inner));
  for (int64_t o = 0; o < outer; ++o) {
    const T* from = in.data<T>() + o * axis.in * inner;
    T* to = out.data<T>() + o * axis.out * inner;
    for (int64_t i = 0; i < axis.out; ++i, to += inner) {
      const std::vector<ResizeTap>& taps = axis.taps[i];
      if (taps.size() == 1 && taps[0].weight == 1) {
        std::copy_n(from + taps[0].index * inner, inner, to);
        continue;
      }
      std::fill(sums.begin(), sums.end(), taps.empty() ? axis.outside : 0.0);
      for (const ResizeTap& tap : taps) {
        const T* row = from + tap.index * inner;
        for (int64_t k = 0; k < inner; ++k) sums[k] += tap.weight * static_cast<double>(row[k]);
      }
      for (int64_t k = 0; k < inner; ++k) to[k] = static_cast<T>(sums[k]);
    }
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const ResizePlan plan, resize_plan(call));
  Tensor current = call.tensor(0);
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    if (plan.axes[i].identity) continue;
    Shape shape = current.shape();
    shape[i] = plan.axes[i].out;
    CLVET_ASSIGN_OR_RETURN(Tensor next, Tensor::create(current.dtype(), shape));
    CLVET_RETURN_IF_ERROR(visit_numbers(current.dtype(), [&]<class T>() {
      apply<T>(plan.axes[i], current, static_cast<int64_t>(i), next);
    }));
    current = std::move(next);
  }
  outputs[0] = std::move(current);
  return {};
}

}  // namespace

extern const OpDef op_resize;
const OpDef op_resize{
    .names = {"Resize", "Upsample"},
    .since = 7,
    .inputs = "* f? f? l?",
    .attributes =
        "antialias:i axes:I coordinate_transformation_mode:s cubic_coeff_a:f "
        "exclude_outside:i extrapolation_value:f keep_aspect_ratio_policy:s mode:s "
        "nearest_mode:s scales:F",
    .infer = infer,
    .host = host,
};

}  // namespace clvet
