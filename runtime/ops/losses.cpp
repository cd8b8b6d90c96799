// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_losses {
namespace {

bool is_softmax(const OpCall& call) { return call.node.op == "SoftmaxCrossEntropyLoss"; }
std::string reduction_of(const OpCall& call) { return call.node.string_attr("reduction", "mean"); }

Result<Types> infer(const OpCall& call) {
  const Shape& x = call.shape(0);
  if (x.size() < 2) return bad_shape(call, 0);
  Shape target = x;
  target.erase(target.begin() + 1);
  if (call.shape(1) != target) return misfit(call, 0, 1);
  if (call.type(1).dtype != DType::kI32 && call.type(1).dtype != DType::kI64)
    return bad_type(call, 1);
  if (call.has(2) && call.shape(2) != Shape{x[1]}) return misfit(call, 0, 2);
  const TensorType loss{call.type(0).dtype, reduction_of(call) == "none" ? target : Shape{}};
  if (is_softmax(call)) return Types{loss, call.type(0)};
  return Types{loss};
}

// The logarithms of a softmax along the classes.
template <class T>
std::vector<double> log_probabilities(const Tensor& x, const AxisSpan& span) {
  std::vector<double> out(x.data<T>(), x.data<T>() + x.elements());
  for (int64_t row = 0; row < span.outer * span.inner; ++row) {
    double* at = out.data() + row / span.inner * span.extent * span.inner + row % span.inner;
    double most = at[0], sum = 0;
    for (int64_t c = 1; c < span.extent; ++c) most = std::max(most, at[c * span.inner]);
    for (int64_t c = 0; c < span.extent; ++c) sum += std::exp(at[c * span.inner] - most);
    for (int64_t c = 0; c < span.extent; ++c) at[c * span.inner] -= most + std::log(sum);
  }
  return out;
}

struct Loss {
  std::vector<double> each;
  double sum = 0, weight = 0;
};

// `scores` by class; an error where a target is no class.
Result<Loss> loss_of(const OpCall& call, const AxisSpan& span, const std::vector<double>& scores) {
  CLVET_ASSIGN_OR_RETURN(const auto targets, call.integers(1));
  const std::vector<double> weights = call.has(2) ? call.tensor(2).to_f64() : std::vector<double>{};
  const bool ignores = call.node.attributes.contains("ignore_index");
  const int64_t ignored = call.node.int_attr("ignore_index", 0);
  Loss loss;
  for (int64_t row = 0; row < span.outer * span.inner; ++row) {
    const int64_t target = targets[static_cast<size_t>(row)];
    loss.each.push_back(0);
    if (ignores && target == ignored) continue;
    if (target < 0 || target >= span.extent) return index_outside(call);
    const int64_t at = (row / span.inner * span.extent + target) * span.inner + row % span.inner;
    const double weight = weights.empty() ? 1 : weights[static_cast<size_t>(target)];
    loss.each.back() = -scores[static_cast<size_t>(at)] * weight;
    loss.sum += loss.each.back();
    loss.weight += weight;
  }
  return loss;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const AxisSpan span(call.shape(0), 1);
  if (span.extent == 0) return bad_shape(call, 0);
  std::vector<double> scores;
  CLVET_RETURN_IF_ERROR(visit_floats(call.type(0).dtype, [&]<class T>() {
    const Tensor& x = call.tensor(0);
    scores = is_softmax(call) ? log_probabilities<T>(x, span)
                              : std::vector<double>(x.data<T>(), x.data<T>() + x.elements());
  }));
  CLVET_ASSIGN_OR_RETURN(const Loss loss, loss_of(call, span, scores));
  const std::string reduction = reduction_of(call);
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    const auto put = [](const std::vector<double>& from, Tensor& to) {
      std::transform(from.begin(), from.end(), to.data<T>(),
                     [](double value) { return static_cast<T>(value); });
    };
    if (reduction == "none")
      put(loss.each, outputs[0]);
    else
      *outputs[0].data<T>() =
          static_cast<T>(reduction == "sum" ? loss.sum : loss.sum / loss.weight);
    if (outputs.size() > 1) put(scores, outputs[1]);
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"},
    .since = 12,
    .inputs = "T * T?",
    .attributes = "ignore_index:i reduction:s=none|sum|mean",
    .max_outputs = 2,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_losses
