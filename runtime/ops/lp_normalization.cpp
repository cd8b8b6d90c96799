// LpNormalization: divided by the norm of degree 1 or 2 along an axis; zeros stay zeros.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_lp_normalization {
namespace {

int64_t degree_of(const OpCall& call) { return call.node.int_attr("p", 2); }

Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(axis_attribute(call, "axis", -1));
  if (degree_of(call) != 1 && degree_of(call) != 2)
    return bad_attribute(call, "p", degree_of(call));
  return infer_same(call);
}

template <class T>
void normalise(const T* x, const AxisSpan& span, bool squares, T* y) {
  double sum = 0;
  for (int64_t a = 0; a < span.extent; ++a) {
    const auto value = static_cast<double>(x[a * span.inner]);
    sum += squares ? value * value : std::fabs(value);
  }
  const double norm = squares ? std::sqrt(sum) : sum;
  for (int64_t a = 0; a < span.extent; ++a) {
    const auto value = static_cast<double>(x[a * span.inner]);
    y[a * span.inner] = static_cast<T>(norm == 0 ? 0 : value / norm);
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", -1));
  const AxisSpan span(call.shape(0), axis);
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    for (int64_t row = 0; row < span.outer * span.inner; ++row) {
      const int64_t at = row / span.inner * span.extent * span.inner + row % span.inner;
      normalise(call.tensor(0).data<T>() + at, span, degree_of(call) == 2,
                outputs[0].data<T>() + at);
    }
  });
}

// A norm of 0 becomes the least number that is not, which leaves zeros zero.
std::vector<Term> steps(Steps& s) {
  const auto axis = axis_attribute(s.call(), "axis", -1);
  if (!axis) return {};
  const Term x = s.input(0);
  const Term norm = s.reduced(degree_of(s.call()) == 2 ? "ReduceL2" : "ReduceL1", x, {*axis});
  constexpr double kLeast = std::numeric_limits<float>::min();
  return {s.one("Div", {x, s.one("Max", {norm, number(kLeast)})})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"LpNormalization"},
    .attributes = "axis:i p:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_lp_normalization
