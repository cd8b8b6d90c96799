// MelWeightMatrix: triangles that are evenly spaced on the mel scale, one a column, over the bins
// of a spectrum.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_mel_weight_matrix {
namespace {

enum Input : size_t { kBands, kLength, kRate, kLower, kUpper };

struct Problem {
  int64_t bands = 0, length = 0, rate = 0;
  double lower = 0, upper = 0;
  int64_t bins() const { return length / 2 + 1; }
};

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

Result<Problem> problem_of(const OpCall& call) {
  Problem p;
  CLVET_ASSIGN_OR_RETURN(p.bands, single_integer(call, kBands));
  CLVET_ASSIGN_OR_RETURN(p.length, single_integer(call, kLength));
  CLVET_ASSIGN_OR_RETURN(p.rate, single_integer(call, kRate));
  CLVET_ASSIGN_OR_RETURN(p.lower, single_number(call, kLower));
  CLVET_ASSIGN_OR_RETURN(p.upper, single_number(call, kUpper));
  if (p.bands < 0) return bad_value(call, kBands, static_cast<double>(p.bands));
  if (p.length < 1) return bad_value(call, kLength, static_cast<double>(p.length));
  if (p.rate < 1) return bad_value(call, kRate, static_cast<double>(p.rate));
  if (!(p.lower >= 0)) return bad_value(call, kLower, p.lower);
  // Above half of the sample rate there are no bins.
  if (!(p.upper >= p.lower) || 2 * p.upper > static_cast<double>(p.rate))
    return bad_value(call, kUpper, p.upper);
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  CLVET_ASSIGN_OR_RETURN(const DType dtype, type_attribute(call, "output_datatype", DType::kF32));
  return Types{{dtype, {p.bins(), p.bands}}};
}

// The bin at which triangle i begins; i + 1: at which it is highest; i + 2: at which it ends.
int64_t edge_of(const Problem& p, int64_t i) {
  const double step =
      (mel_of(p.upper) - mel_of(p.lower)) / static_cast<double>(p.bands + 2);  // as ONNX's bodies
  const double hertz = hertz_of(static_cast<double>(i) * step + mel_of(p.lower));
  const double bin =
      std::floor((static_cast<double>(p.length) + 1) * hertz / static_cast<double>(p.rate));
  return std::clamp(static_cast<int64_t>(bin), int64_t{0}, p.bins() - 1);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  CLVET_ASSIGN_OR_RETURN(Tensor exact, Tensor::create(DType::kF64, {p.bins(), p.bands}));
  for (int64_t i = 0; i < p.bands; ++i) {
    const int64_t first = edge_of(p, i), top = edge_of(p, i + 1), last = edge_of(p, i + 2);
    double* column = exact.data<double>() + i;
    for (int64_t bin = first; bin <= top; ++bin) {
      column[bin * p.bands] =
          top == first ? 1 : static_cast<double>(bin - first) / static_cast<double>(top - first);
    }
    for (int64_t bin = top; bin < last; ++bin)
      column[bin * p.bands] = static_cast<double>(last - bin) / static_cast<double>(last - top);
  }
  CLVET_ASSIGN_OR_RETURN(outputs[0], exact.cast(outputs[0].dtype()));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"MelWeightMatrix"},
    .since = 17,
    .inputs = "i i i f f",
    .attributes = "output_datatype:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_mel_weight_matrix
