// Det: the determinant of each matrix, by elimination with the largest pivot, in double.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_det {
namespace {

Result<Types> infer(const OpCall& call) {
  TensorType out = call.inputs[0].type;
  const size_t rank = out.shape.size();
  if (rank < 2 || out.shape[rank - 1] != out.shape[rank - 2]) return bad_shape(call, 0);
  out.shape.resize(rank - 2);
  return Types{out};
}

// Of `m`, n x n, which it uses up.
double determinant(std::vector<double>& m, size_t n) {
  double product = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    const double value = m[pivot * n + k];
    product *= pivot == k ? value : -value;
    if (value == 0) return 0;
    for (size_t j = k; pivot != k && j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / value;
      for (size_t j = k + 1; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return product;
}

template <class T>
void fill(const Tensor& x, Tensor& out) {
  const auto n = static_cast<size_t>(x.shape().back());
  std::vector<double> matrix(n * n);
  for (int64_t i = 0; i < out.elements(); ++i) {
    const T* from = x.data<T>() + static_cast<size_t>(i) * n * n;
    std::copy(from, from + n * n, matrix.begin());
    out.data<T>()[i] = static_cast<T>(determinant(matrix, n));
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  if (call.type(0).dtype == DType::kF64)
    fill<double>(call.tensor(0), outputs[0]);
  else
    fill<float>(call.tensor(0), outputs[0]);
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Det"},
    .since = 11,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_det
