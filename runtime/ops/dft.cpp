// DFT.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/fourier.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/spectrum.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_dft {
namespace {

enum Input : size_t { kSignal, kLength, kAxis };
constexpr int kAxisIsAnInput = 20;  // since that operator set

struct Problem {
  // The axis; the product of the extents before it, its extent, and that of those behind it but the
  // last.
  int64_t axis = 0, before = 1, extent = 1, behind = 1;
  int64_t length = 0, bins = 0;
  bool inverse = false;
};

Result<int64_t> axis_of(const OpCall& call) {
  int64_t axis = call.node.opset < kAxisIsAnInput ? call.node.int_attr("axis", 1) : -2;
  if (call.node.opset >= kAxisIsAnInput && call.has(kAxis)) {
    CLVET_ASSIGN_OR_RETURN(axis, single_integer(call, kAxis));
  }
  const auto rank = static_cast<int64_t>(call.shape(kSignal).size());
  CLVET_ASSIGN_OR_RETURN(axis, normal_axis(axis, rank));
  if (axis < rank - 1) return axis;
  return fail(ErrorCode::kInvalidArgument, "DFT's axis cannot be the last one, {}", axis);
}

Result<Problem> problem_of(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(check_signal(call));
  const Shape& shape = call.shape(kSignal);
  Problem p;
  CLVET_ASSIGN_OR_RETURN(p.axis, axis_of(call));
  for (int64_t i = 0; i + 1 < static_cast<int64_t>(shape.size()); ++i)
    (i < p.axis ? p.before : i > p.axis ? p.behind : p.extent) *= shape[static_cast<size_t>(i)];
  p.inverse = call.node.int_attr("inverse", 0) != 0;
  CLVET_ASSIGN_OR_RETURN(p.length, positive_length(call, kLength, p.extent));
  CLVET_ASSIGN_OR_RETURN(p.bins,
                         bins_of(call, call.node.int_attr("onesided", 0), p.length, p.inverse));
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  TensorType out = call.type(kSignal);
  out.shape[static_cast<size_t>(p.axis)] = p.bins;
  out.shape.back() = 2;
  return Types{out};
}

template <class T>
Status transform(const OpCall& call, Tensor& out) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  CLVET_ASSIGN_OR_RETURN(Fourier fourier, Fourier::create(p.length, p.inverse));
  SpectrumLines<T> lines(call, out, fourier, p.bins);
  for (int64_t i = 0; i < p.before; ++i)
    for (int64_t k = 0; k < p.behind; ++k)
      lines.run(i * p.extent * p.behind + k, p.extent, i * p.bins * p.behind + k, p.behind);
  return {};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  if (call.type(0).dtype == DType::kF64) return transform<double>(call, outputs[0]);
  return transform<float>(call, outputs[0]);
}

// Larger matrices take longer than a fast transform on the host.
constexpr int64_t kLargestMatrix = int64_t{1} << 20;

// From rows of values, or pairs of them, to rows of pairs.
Tensor matrix_of(const Problem& p, int64_t parts) {
  std::vector<float> values;
  for (int64_t t = 0; t < p.extent; ++t) {
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t k = 0; k < p.bins; ++k) {
        const double turn = static_cast<double>(t % p.length * k % p.length);
        const double angle =
            (p.inverse ? 2 : -2) * std::numbers::pi * turn / static_cast<double>(p.length);
        // What lies beyond the transform's length does not count.
        const double size = t >= p.length ? 0 : p.inverse ? 1 / static_cast<double>(p.length) : 1;
        const double c = size * std::cos(angle), i = size * std::sin(angle);
        values.push_back(static_cast<float>(part == 0 ? c : -i));
        values.push_back(static_cast<float>(part == 0 ? i : c));
      }
    }
  }
  return Tensor::from({p.extent * parts, 2 * p.bins}, std::span<const float>(values));
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto p = problem_of(call);
  const int64_t parts = call.shape(kSignal).back();
  if (!p || elements_of(call.shape(kSignal)) == 0 ||
      p->extent * parts > kLargestMatrix / (2 * p->bins))
    return {};
  const Term x = s.reshaped(s.input(kSignal), {p->before, p->extent, p->behind, parts});
  const Term lines =
      s.reshaped(s.transposed(x, {0, 2, 1, 3}), {p->before * p->behind, p->extent * parts});
  const Term made = s.one("MatMul", {lines, constant_term(matrix_of(*p, parts))});
  const Term y = s.transposed(s.reshaped(made, {p->before, p->behind, p->bins, 2}), {0, 2, 1, 3});
  return {s.reshaped(y, (*infer(call))[0].shape)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"DFT"},
    .since = 17,
    .inputs = "T i? i?",
    .attributes = "axis:i inverse:i onesided:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_dft
