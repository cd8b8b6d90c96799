// What shows of an output by itself, without another answer beside it, that it may be wrong.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/graph/tensor.h"

namespace clvet {

enum class OutputSign { kNone, kNotFinite, kZero, kConstant, kSaturated, kCollapsed };
const char* to_string(OutputSign sign);
inline constexpr int kOutputSignCount = 6;

// Models also give such outputs, so a sign is a reason to compare, and no more.
//  - not finite: one value is enough.
//  - zero, constant: all of two or more values.
//  - saturated: a twentieth of the values are the largest that half holds, or the least.
//  - collapsed: of four or more rows (the last dimension) of probabilities (0 to 1, their sum 1 as
//    near as half tells) each has all but what half rounds away of 1 at the same place. So the
//    answer no longer depends on the row. One row says nothing: a classifier may be sure. Nor do
//    rows that are sure of different places. Rows without a preference are constant.
// Of an output of whole numbers: none.
OutputSign sign_of(const Tensor& output);
// `row`: how many values a row has, of which `values` are a multiple; 0: there are no rows.
OutputSign sign_of(std::span<const float> values, int64_t row = 0);

}  // namespace clvet
