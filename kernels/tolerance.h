// The bound within which an output element is right, and the comparison that applies it.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/combination.h"
#include "kernels/contract.h"

namespace clvet {

// Bound of |device - reference| for each element. Sources, stated again at the definition:
//  - reduction of n terms t in any order with unit roundoff u (2^-24 for high and normal, 2^-11 for
//    low, but for ops that compute in float at every precision): a random-walk model of the partial
//    sums gives rms error u*sqrt(n/2)*sqrt(sum t^2); the bound takes six of them plus u*sqrt(sum
//    t^2) for each operand rounding, never more than the worst case;
//  - storage of the result: one unit in the last place of the storage type (either neighbour is
//    right), subnormals may be flushed to zero;
//  - functions: the OpenCL full-profile ulp limits of exp, tanh and division, under the
//  arithmetic's u.
// The first of these, in units of u*sqrt(sum t^2).
double roundoffs_of_sum(double n);

Values error_bounds(const ReferenceResult& reference, Precision precision);

struct Comparison {
  bool right = true;
  double max_abs = 0;        // largest |device - reference| over finite pairs
  double max_ulp = 0;        // the same in units in the last place of the storage type
  double worst_ratio = 0;    // largest |device - reference| / bound; right means <= 1
  double bound = 0;          // the bound at the worst element
  int64_t first_bad = -1;    // logical index of the first element outside its bound, or -1
  int64_t bad = 0;           // how many are outside
  double got = 0, want = 0;  // at first_bad
};

// Where |reference| exceeds 65504 under half storage, both +-65504 and +-infinity are right.
Comparison compare(const ReferenceResult& reference, std::span<const double> device,
                   Precision precision);

}  // namespace clvet
