#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
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
  const auto channels = static_cast<size_t>(dim(values.dims, "OC"));
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = window.kh * window.kw * window.c + 1;
  for (int64_t pixel = 0; pixel < window.outputs(); ++pixel) {
    RowSums sums(bias);
    window.each(pixel, [&](int64_t tap, int64_t at) {
      for (int64_t ci = 0; ci < window.c; ++ci) {
        const double factor = x[static_cast<size_t>(at + ci)];
        const double* row = w.data() + static_cast<size_t>(tap * window.c + ci) * channels;
        for (size_t o = 0; o < channels; ++o) sums.add(o, factor * row[o]);
      }
    });
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"conv2d", roles, reference};

}  // namespace clvet::op_contract_conv2d
