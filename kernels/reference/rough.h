// Values that a kernel computes from values with errors of their own.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/contract.h"
#include "kernels/reference/rows.h"
#include "kernels/tolerance.h"

namespace clvet {

// Values, and how far each may be away from what a kernel has there, in roundoffs.
struct Rough {
  Values value, error;
};

// x times its rms factor (rows.h) and `scale`; `moved` is what errors of x are of the factor, in
// roundoffs of it: factor^2 / n * sum of x times its error. The root and the products are counted
// where the result's sums are (roundoffs_of_rms).
struct Normed {
  Rough row;
  double moved = 0;
};
inline Normed normed(const Rough& x, const double* scale, double epsilon) {
  const double factor = rms_factor(x.value, epsilon), n = static_cast<double>(x.value.size());
  Normed made{x, 0};
  for (size_t i = 0; i < x.value.size(); ++i) {
    made.moved += std::fabs(x.value[i]) * x.error[i];
    made.row.value[i] *= factor * scale[i];
    made.row.error[i] *= std::fabs(factor * scale[i]);
  }
  made.moved *= factor * factor / n;
  return made;
}

// x[K] * w[K][n] + bias[n], or no bias. Errors of x are of no preferred sign: they add up as the
// roots of their squares do. `of_factor`: roundoffs of a factor that all products share.
inline Rough product(const Rough& x, const double* w, size_t n, const double* bias,
                     double of_factor) {
  Values sum(n, 0), squares(n, 0), errors(n, 0);
  for (size_t k = 0; k < x.value.size(); ++k) {
    for (size_t i = 0; i < n; ++i) {
      const double weight = w[k * n + i], term = x.value[k] * weight;
      sum[i] += term;
      squares[i] += term * term;
      errors[i] += weight * weight * x.error[k] * x.error[k];
    }
  }
  const double of_sum = roundoffs_of_sum(static_cast<double>(x.value.size()) + 1);
  Rough made{sum, Values(n)};
  for (size_t i = 0; i < n; ++i) {
    const double added = bias ? bias[i] : 0;
    made.value[i] += added;
    made.error[i] = of_sum * std::sqrt(squares[i] + added * added) + std::sqrt(errors[i]) +
                    of_factor * std::fabs(sum[i]) + std::fabs(made.value[i]);
  }
  return made;
}

}  // namespace clvet
