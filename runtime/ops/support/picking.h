// Steps that pick elements of floats by numbers that the host knows: the numbers are computed on
// the host, what they pick is gathered on the device.
#pragma once

#include <cstdint>

#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

// More numbers than that are not worth their way to the device.
inline constexpr int64_t kMostPicked = int64_t{1} << 22;

// 0, step, ... as i64 of one axis.
Term counted(int64_t count, int64_t step = 1);
// Integers as i64.
Term as_i64(Steps& s, const Term& given);
// Integers as i64 of 0 to extent - 1. The host refuses others at run time; those below 0 count from
// the end where `from_end`, else they are refused, too.
Term numbers_inside(Steps& s, const Term& given, int64_t extent, bool from_end);
// Rows `at` (i64) of the matrix `table`, as `shape`.
Term picked(Steps& s, const Term& table, const Term& at, const Shape& shape);
// Where each element of `out` lies in a row-major tensor of `shape` that is broadcast to it.
Tensor places_in(const Shape& shape, const Shape& out);

}  // namespace clvet
