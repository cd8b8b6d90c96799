#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_conv2d {
namespace {

// Direct KH x KW convolution, groups = 1, zero padding.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("conv2d", dims));
  const Window window(dims);
  return window.convolution("conv2d", dims, window.c);
}

ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const int64_t channels = dim(values.dims, "OC");
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = window.kh * window.kw * window.c + 1;
  for (int64_t pixel = 0; pixel < window.n * window.oh * window.ow; ++pixel) {
    Values sum(bias), squares(bias);
    for (double& square : squares) square *= square;
    window.each(pixel / (window.oh * window.ow), pixel / window.ow % window.oh, pixel % window.ow,
                [&](int64_t tap, int64_t at) {
                  for (int64_t ci = 0; ci < window.c; ++ci) {
                    const double factor = x[static_cast<size_t>(at + ci)];
                    const double* row = w.data() + (tap * window.c + ci) * channels;
                    for (int64_t o = 0; o < channels; ++o) {
                      sum[static_cast<size_t>(o)] += factor * row[o];
                      squares[static_cast<size_t>(o)] += factor * row[o] * factor * row[o];
                    }
                  }
                });
    result.value.insert(result.value.end(), sum.begin(), sum.end());
    result.sum_squares.insert(result.sum_squares.end(), squares.begin(), squares.end());
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"conv2d", roles, reference};

}  // namespace clvet::op_contract_conv2d
