#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_conv2d_planes {
namespace {

// conv2d of an image as hosts have it: x holds N * C planes of H lines, a line's W values as
// channels.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("conv2d_planes", dims));
  const Window window(dims);
  CLVET_ASSIGN_OR_RETURN(std::vector<TensorRole> roles,
                         window.convolution("conv2d_planes", dims, window.c));
  roles[0].h = window.c;
  roles[0].w = window.h;
  roles[0].c = window.w;
  return roles;
}

ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const auto channels = static_cast<size_t>(dim(values.dims, "OC"));
  const int64_t plane = window.h * window.w;
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = window.kh * window.kw * window.c + 1;
  for (int64_t output = 0; output < window.outputs(); ++output) {
    RowSums sums(bias);
    window.each(output, [&](int64_t tap, int64_t at) {
      const int64_t pixel = at / window.c, image = pixel / plane;
      for (int64_t ci = 0; ci < window.c; ++ci) {
        const double factor =
            x[static_cast<size_t>((image * window.c + ci) * plane + pixel % plane)];
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
const OpContract def = {"conv2d_planes", roles, reference};

}  // namespace clvet::op_contract_conv2d_planes
