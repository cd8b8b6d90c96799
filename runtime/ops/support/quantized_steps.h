// Steps of com.microsoft's quantised operators.
#pragma once

#include <cstdint>

#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

// One scale and one zero point for all: shapes [] and [1] alike. `zero` may be absent.
Term dequantized(Steps& s, const Term& x, const Term& scale, const Term& zero);
// To the type of `zero`, or u8.
Term quantized(Steps& s, const Term& x, const Term& scale, const Term& zero);

// What QuantizeLinear and DequantizeLinear are where levels are floats (steps_domain.h), by the
// call's attributes axis and block_size; no_term() where the host has to do it: blocks, and zero
// points that differ along an axis.
Term as_levels(Steps& s, Term x, const Term& scale, const Term& zero, DType dtype);
Term from_levels(Steps& s, const Term& x, const Term& scale, const Term& zero);

// (left * right) * scales + bias as floats: exact sums of integers, then scaled by both scales.
// `left_scale` is one value, `right_scale` one or one a column; so are the zero points.
struct IntegerProduct {
  Term left, right, left_scale, right_scale, left_zero, right_zero;
};
// As floats; the integers `added` may be absent.
Term integer_sums(Steps& s, const IntegerProduct& p, const Term& added);
// Of those sums; `factor` for all. The scales must fit: misfit is for the caller to say.
Term scaled_sums(Steps& s, const Term& sums, const IntegerProduct& p, double factor);
// Whether a scale or zero point is one value, or one for each of `columns`.
bool fits_columns(const Term& parameter, int64_t columns);

}  // namespace clvet
