// Products of float matrices, several of them side by side on the threads of
// runtime/host/parallel.h. Sums are of float32: blocks of 256 terms one after the other, then their
// sums; the same on any number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/graph/graph.h"
#include "runtime/host/matrix.h"

namespace clvet {

// c = activation(a * b + biases), or c + a * b for the product where `accumulate`.
struct Product {
  MatrixView a;
  const RightMatrix* b = nullptr;
  int64_t columns = 0;
  float* c = nullptr;
  int64_t stride = 0;  // from row to row of c
  bool accumulate = false;
  const float* row_bias = nullptr;     // a number for each row of c; not with `accumulate`
  const float* column_bias = nullptr;  // a number for each column of c; not with the others
  Activation activation{};
};

void multiply(std::span<const Product> products);

}  // namespace clvet
