#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_reduce {
namespace {

enum Code { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSquares, kLogSum, kLogSumExp };

// y[r] = the C values of row r reduced to one: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of
// magnitudes, 6 root of the sum of squares, 7 sum of squares, 8 log of the sum, 9 log of the sum of
// exponentials. In float at every precision; rows as in softmax.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Rows::check("reduce", dims));
  const int64_t code = dim_or(dims, "code", -1);
  if (code < kSum || code > kLogSumExp) {
    return fail(ErrorCode::kInvalidArgument, "reduce: code = {} is not in the range 0 to 9", code);
  }
  const Rows rows(dims);
  return std::vector<TensorRole>{rows.input(), rows.output(1)};
}

struct Reduced {
  double value = 0;
  double sum_squares = 0;  // of signed terms
  double functions = 0;
};

// Relative error, in roundoffs, of a sum of n terms of one sign: partial sums grow like i / n, so
// their rounding errors have an rms of sqrt(n / 3) of the sum; six of them, and three more for each
// term's own roundings, never more than the worst case.
double walk_of(double n) { return std::min(n + 3, 6 * std::sqrt(n / 3) + 3); }

Reduced log_sum_exp(std::span<const double> row) {
  double largest = *std::max_element(row.begin(), row.end());
  if (std::isinf(largest)) largest = 0;
  double sum = 0, moved = 0;
  for (const double v : row) {
    const double e = std::exp(v - largest);
    sum += e;
    if (e > 0) moved += e * (8 + 2 * (largest - v));
  }
  const double log = std::log(sum);
  const double value = largest + log;
  const double n = static_cast<double>(row.size());
  return {value, 0, moved / sum + walk_of(n) + 6 * std::fabs(log) + 2 * std::fabs(value)};
}

struct Sums {
  double n = 0, sum = 0, magnitudes = 0, squares = 0, product = 1;
};

Sums sums_of(std::span<const double> row) {
  Sums sums;
  sums.n = static_cast<double>(row.size());
  for (const double v : row) {
    sums.sum += v;
    sums.magnitudes += std::fabs(v);
    sums.squares += v * v;
    sums.product *= v;
  }
  return sums;
}

Reduced mean(const Sums& of) {
  const double value = of.sum / of.n;
  return {value, of.squares / (of.n * of.n), 3 * std::fabs(value)};
}

Reduced root_of_squares(const Sums& of) {
  const double root = std::sqrt(of.squares);
  return {root, 0, (walk_of(of.n) / 2 + 6) * root};
}

Reduced log_of_sum(const Sums& of) {
  const double log = std::log(of.sum);
  return {log, 0, walk_of(of.n) * of.magnitudes / std::fabs(of.sum) + 6 * std::fabs(log)};
}

Reduced reduced(int64_t code, std::span<const double> row) {
  const Sums of = sums_of(row);
  switch (code) {
    case kSum:
      return {of.sum, of.squares, 0};
    case kMean:
      return mean(of);
    case kMax:
      return {std::accumulate(row.begin(), row.end(), row[0], larger<double>), 0, 0};
    case kMin:
      return {std::accumulate(row.begin(), row.end(), row[0], smaller<double>), 0, 0};
    case kProd:
      return {of.product, 0, of.n * std::fabs(of.product)};
    case kL1:
      return {of.magnitudes, 0, walk_of(of.n) * of.magnitudes};
    case kL2:
      return root_of_squares(of);
    case kSquares:
      return {of.squares, 0, walk_of(of.n) * of.squares};
    case kLogSum:
      return log_of_sum(of);
    default:
      return log_sum_exp(row);
  }
}

ReferenceResult reference(const CallValues& values) {
  const Rows rows(values.dims);
  const int64_t code = dim(values.dims, "code");
  const std::span<const double> x = values.tensors.find("x")->second;
  ReferenceResult result;
  result.reduction = rows.c;
  result.in_float = true;
  for (int64_t r = 0; r < rows.m; ++r) {
    const auto length = static_cast<size_t>(rows.c);
    const Reduced y = reduced(code, x.subspan(static_cast<size_t>(r) * length, length));
    result.value.push_back(y.value);
    result.sum_squares.push_back(y.sum_squares);
    result.functions.push_back(y.functions);
  }
  // The errors of the reduction pass through the activation, whose own come on top.
  const Values own = result.functions;
  apply_epilogue(epilogue_of(values), result);
  if (result.sensitivity.empty()) return result;
  for (size_t i = 0; i < own.size(); ++i) result.functions[i] += own[i] * result.sensitivity[i];
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"reduce", roles, reference};

}  // namespace clvet::op_contract_reduce
