// Steps that pick elements of floats by numbers that the host knows: the numbers are computed on
// the host, what they pick is gathered on the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
// Rows of a tensor whose first extents are `extents`: tuples [count, extents] of indices, those
// below 0 counted from the end, as i64 [count].
Term rows_of_tuples(Steps& s, const Term& tuples, std::span<const int64_t> extents);
// Where the elements lie in a row-major tensor of `shape` that have the same indices as each of
// `indices` has, but for the one along `axis`, which it is.
Term places_along(Steps& s, const Term& indices, const Shape& shape, int64_t axis);
// The rows of `table`, but those of the numbers `places` (i64, as many as `updates` has rows): they
// become the rows of `updates`, the last one where several have that place. As `shape`.
Term with_rows(Steps& s, const Term& table, const Term& updates, const Term& places,
               const Shape& shape);
// The same where each row becomes op(row, its updates in turn), of which `neutral` changes nothing.
// No steps where the places are not known, or where one has many updates.
std::vector<Term> with_rows_reduced(Steps& s, const Term& table, const Term& updates,
                                    const Term& places, const Shape& shape, const char* op,
                                    double neutral);
// Where each element of `out` lies in a row-major tensor of `shape` that is broadcast to it.
Tensor places_in(const Shape& shape, const Shape& out);

}  // namespace clvet
