// MeanVarianceNormalization: less its mean, divided by its deviation over the axes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_mean_variance_normalization {
namespace {

constexpr double kEpsilon = 1e-9;  // ONNX's function body adds it to the deviation

Result<std::vector<int64_t>> axes_of(const OpCall& call) {
  const auto* axes = call.node.ints_attr("axes");
  return normal_axes(axes ? *axes : std::vector<int64_t>{0, 2, 3},
                     static_cast<int64_t>(call.shape(0).size()));
}

Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(axes_of(call));
  return infer_same(call);
}

template <class T>
void normalise(const Tensor& x, const Shape& kept, Tensor& y) {
  const std::vector<int64_t> walk[2] = {strides_of(x.shape()), broadcast_strides(kept, x.shape())};
  const auto count = static_cast<size_t>(elements_of(kept));
  std::vector<double> means(count), squares(count);
  const auto each = [&](const auto& fn) {
    for_each_row(x.shape(), walk, [&](const int64_t(&at)[2]) {
      const int64_t length = x.shape().empty() ? 1 : x.shape().back();
      for (int64_t i = 0; i < length; ++i) {
        const int64_t group = x.shape().empty() ? 0 : at[1] + i * walk[1].back();
        fn(at[0] + i, static_cast<size_t>(group));
      }
    });
  };
  const double terms = static_cast<double>(x.elements()) / static_cast<double>(count);
  each([&](int64_t i, size_t g) { means[g] += static_cast<double>(x.data<T>()[i]) / terms; });
  each([&](int64_t i, size_t g) {
    const double d = static_cast<double>(x.data<T>()[i]) - means[g];
    squares[g] += d * d / terms;
  });
  each([&](int64_t i, size_t g) {
    const double d = static_cast<double>(x.data<T>()[i]) - means[g];
    y.data<T>()[i] = static_cast<T>(d / (std::sqrt(squares[g]) + kEpsilon));
  });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const auto axes, axes_of(call));
  Shape kept = call.shape(0);
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  return visit_floats(call.type(0).dtype,
                      [&]<class T>() { normalise<T>(call.tensor(0), kept, outputs[0]); });
}

std::vector<Term> steps(Steps& s) {
  const auto axes = axes_of(s.call());
  if (!axes || axes->empty()) return {};
  const Term x = s.input(0);
  const Term apart = s.one("Sub", {x, s.reduced("ReduceMean", x, *axes)});
  const Term variance = s.reduced("ReduceMean", s.one("Mul", {apart, apart}), *axes);
  return {s.one("Div", {apart, s.one("Add", {s.one("Sqrt", {variance}), number(kEpsilon)})})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"MeanVarianceNormalization"},
    .since = 9,
    .attributes = "axes:I",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_mean_variance_normalization
