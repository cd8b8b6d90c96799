#include "runtime/host/gemm.h"

#include <Eigen/Core>
#include <cstdint>

namespace clvet {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
using ConstMap = Eigen::Map<const Matrix, 0, Stride>;

ConstMap stored(const MatrixView& view) {
  if (view.transposed) return {view.data, view.columns, view.rows, Stride(view.stride)};
  return {view.data, view.rows, view.columns, Stride(view.stride)};
}

}  // namespace

void gemm(const MatrixView& a, const MatrixView& b, float* c, int64_t stride, bool accumulate) {
  Eigen::Map<Matrix, 0, Stride> out(c, a.rows, b.columns, Stride(stride));
  if (!accumulate) out.setZero();
  if (a.columns == 0) return;
  const ConstMap left = stored(a), right = stored(b);
  if (a.transposed && b.transposed)
    out.noalias() += left.transpose() * right.transpose();
  else if (a.transposed)
    out.noalias() += left.transpose() * right;
  else if (b.transposed)
    out.noalias() += left * right.transpose();
  else
    out.noalias() += left * right;
}

}  // namespace clvet
