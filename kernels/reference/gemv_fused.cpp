#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "kernels/reference/matmul.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_gemv_fused {
namespace {

// gemv with what is around it in a language model: z[N] = n(x)[K] * w[K, N] + bias[N], where n is
// rms_norm (norm = 1: x * scale / sqrt(mean(x^2) + epsilon)) or x itself. y is act(z), or of half
// as many values (gated = 1) act(z[i]) * z[N / 2 + i]; with add = 1 r + that. In float between x, r
// and y. Without norm `scale` is not read; with biased = 0 `bias` is not, and is 0; without add `r`
// is not, and has the length of x. Of a gated call N is a multiple of 32.
struct Shape {
  int64_t n, k, outputs;
  bool norm, gated, add;
  explicit Shape(const Dims& dims)
      : n(dim(dims, "N")),
        k(dim(dims, "K")),
        outputs(dim_or(dims, "gated", 0) == 1 ? n / 2 : n),
        norm(dim_or(dims, "norm", 0) == 1),
        gated(outputs != n),
        add(dim_or(dims, "add", 0) == 1) {}
};

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "K"};
  CLVET_RETURN_IF_ERROR(need_positive("gemv_fused", dims, names));
  const Shape at(dims);
  if (at.gated && at.n % 32 != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "gemv_fused: N = {} of a gated call is not a multiple of 32", at.n);
  }
  std::vector<TensorRole> roles = matmul_roles(1, 1, at.n, at.k);
  roles.back().c = at.outputs;
  TensorRole scale{.name = "scale", .kind = TensorKind::kVector, .c = at.k};
  TensorRole r{.name = "r", .kind = TensorKind::kInput, .c = at.add ? at.outputs : at.k};
  roles.insert(roles.begin() + 1, r);
  roles.insert(roles.end() - 1, scale);
  return roles;
}

// What x is divided and multiplied by, in exact arithmetic.
Values normed(const CallValues& values, const Shape& at) {
  Values x = values.tensors.find("x")->second;
  if (!at.norm) return x;
  const double epsilon = static_cast<float>(values.scalars.find("epsilon")->second);
  const Values& scale = values.tensors.find("scale")->second;
  const double factor = rms_factor(x, epsilon);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= factor * scale[i];
  return x;
}

// A sum's error counts times |slope of what follows|; two that meet in one value add up. The norm's
// factor is one for all terms, and moves z by as many roundoffs of it as those of the norm.
class Epilogues {
 public:
  Epilogues(const CallValues& values, const Shape& at, const ReferenceResult& z)
      : at_(at),
        act_(epilogue_of(values)),
        z_(z),
        bias_(values.tensors.find("bias")->second),
        r_(values.tensors.find("r")->second) {}

  void append(size_t i, ReferenceResult& to) const {
    const double gate = z_.value[i], n = static_cast<double>(z_.reduction);
    const double spread =
        std::ldexp(std::sqrt(z_.sum_squares[i]), -11) * (6 * std::sqrt(n / 2) + 4);
    const double slope = act_sensitivity(act_, gate, spread);
    double y = apply_act(act_.act, act_.lo, act_.hi, gate);
    double functions = act_row(act_.act).error(gate, act_.lo, act_.hi) + slope * of_norm(i);
    double size = slope * std::sqrt(z_.sum_squares[i]), sensitivity = slope;
    if (at_.gated) {
      const size_t other = i + static_cast<size_t>(at_.outputs);
      const double up = z_.value[other], factor = std::fabs(up);
      functions = factor * functions + std::fabs(y) * (of_norm(other) + 2 * factor);
      size = factor * size + std::fabs(y) * std::sqrt(z_.sum_squares[other]);
      sensitivity = factor * sensitivity + std::fabs(y);
      y *= up;
    }
    if (at_.add) functions += std::fabs(y), y += r_[i], sensitivity += 1;
    // A bound multiplies the sum's error by the sensitivity.
    const double sum = sensitivity > 0 ? size / sensitivity : 0;
    to.value.push_back(y);
    to.sum_squares.push_back(sum * sum);
    to.sensitivity.push_back(sensitivity);
    to.functions.push_back(functions);
  }

 private:
  double of_norm(size_t i) const {
    const double roundoffs = at_.norm ? roundoffs_of_rms(static_cast<double>(at_.k)) : 0;
    return roundoffs * std::fabs(z_.value[i] - bias_[i]);
  }

  const Shape& at_;
  Epilogue act_;
  const ReferenceResult& z_;
  const Values& bias_;
  const Values& r_;
};

ReferenceResult reference(const CallValues& given) {
  const Shape at(given.dims);
  CallValues values = given;
  if (dim_or(given.dims, "biased", 1) == 0) {
    std::ranges::fill(values.tensors.find("bias")->second, 0.0);
  }
  const ReferenceResult z = matmul_sums(values, normed(values, at), 1);
  const Epilogues epilogues(values, at, z);
  ReferenceResult result;
  result.reduction = z.reduction;
  result.in_float = true;
  for (size_t i = 0; i < static_cast<size_t>(at.outputs); ++i) epilogues.append(i, result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"gemv_fused", roles, reference};

}  // namespace clvet::op_contract_gemv_fused
