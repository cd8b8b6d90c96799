// Sums of signed terms, one for each channel of an output position, with those of their squares.
#pragma once

#include <cstddef>

#include "kernels/contract.h"

namespace clvet {

struct RowSums {
  Values sum, squares;
  explicit RowSums(size_t channels) : sum(channels, 0), squares(channels, 0) {}
  // The bias is a term like any other.
  explicit RowSums(const Values& bias) : sum(bias), squares(bias) {
    for (double& square : squares) square *= square;
  }
  void add(size_t channel, double term) {
    sum[channel] += term;
    squares[channel] += term * term;
  }
  void append_to(ReferenceResult& result) const {
    result.value.insert(result.value.end(), sum.begin(), sum.end());
    result.sum_squares.insert(result.sum_squares.end(), squares.begin(), squares.end());
  }
};

}  // namespace clvet
