// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

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

// The targets as numbers of 0 to `classes` - 1, and which of them are ignored.
struct Targets {
  Term number, ignored;
};

Targets targets_of(Steps& s, int64_t classes, int64_t rows) {
  const Node& node = s.call().node;
  Targets targets{as_i64(s, s.reshaped(s.input(1), {rows})), no_term()};
  if (node.attributes.contains("ignore_index")) {
    targets.ignored =
        s.one("Equal", {targets.number, integers({node.int_attr("ignore_index", 0)})});
    targets.number = s.one("Where", {targets.ignored, integers({0}), targets.number});
  }
  targets.number = numbers_inside(s, targets.number, classes, false);
  return targets;
}

// A row of `table` for each number; 0 for what is ignored.
Term row_of(Steps& s, const Term& table, const Term& at, const Term& ignored) {
  if (!s.ok()) return no_term();
  const int64_t rows = table.shape()[0];
  const Shape column{elements_of(at.shape()), 1};
  if (!ignored.present) return picked(s, table, at, column);
  const Term zero = constant_term(Tensor::of<float>({1, 1}, {0}));
  const Term longer = s.one("Concat", {table, zero}, {{"axis", int64_t{0}}});
  return picked(s, longer, s.one("Where", {ignored, integers({rows}), at}), column);
}

// The weight of each target; no term where all have 1.
Term weights_of(Steps& s, int64_t classes, const Targets& targets) {
  if (!s.call().has(2) && !targets.ignored.present) return no_term();
  const std::vector<float> ones(static_cast<size_t>(classes), 1.0F);
  const Term table = s.call().has(2)
                         ? s.reshaped(s.input(2), {classes, 1})
                         : constant_term(Tensor::from({classes, 1}, std::span<const float>(ones)));
  return row_of(s, table, targets.number, targets.ignored);
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const Shape& shape = call.shape(0);
  const AxisSpan span(shape, 1);
  const int64_t rows = span.outer * span.inner, elements = rows * span.extent;
  if (elements == 0 || rows > kMostPicked || span.extent > kMostPicked) return {};
  Term scores = s.reshaped(s.input(0), {span.outer, span.extent, span.inner});
  if (is_softmax(call)) scores = s.one("LogSoftmax", {scores}, {{"axis", int64_t{1}}});
  const Targets targets = targets_of(s, span.extent, rows);
  std::vector<int64_t> bases;
  for (int64_t row = 0; row < rows; ++row)
    bases.push_back(row / span.inner * span.extent * span.inner + row % span.inner);
  const Term at =
      s.one("Add", {s.one("Mul", {targets.number, integers({span.inner})}), integers(bases)});
  Term loss = row_of(s, s.reshaped(scores, {elements, 1}), at, targets.ignored);
  const Term weights = weights_of(s, span.extent, targets);
  if (call.has(2)) loss = s.one("Mul", {loss, weights});
  loss = s.one("Mul", {loss, number(-1)});
  Shape out = call.shape(1);
  if (reduction_of(call) != "none") {
    out = {};
    const bool plain = reduction_of(call) == "mean" && !weights.present;
    loss = s.reduced(plain ? "ReduceMean" : "ReduceSum", loss, {0, 1});
    if (reduction_of(call) == "mean" && weights.present)
      loss = s.one("Div", {loss, s.reduced("ReduceSum", weights, {0, 1})});
  }
  return {s.reshaped(loss, out), s.reshaped(scores, shape)};
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
    .expand = steps,
};

}  // namespace clvet::op_losses
