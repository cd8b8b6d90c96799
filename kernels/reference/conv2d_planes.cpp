#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/convolved.h"
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
  const int64_t plane = window.h * window.w;
  return convolved(values, window, [&](int64_t at, int64_t c) {
    const int64_t pixel = at / window.c, image = pixel / plane;
    return (image * window.c + c) * plane + pixel % plane;
  });
}

}  // namespace

extern const OpContract def;
const OpContract def = {"conv2d_planes", roles, reference};

}  // namespace clvet::op_contract_conv2d_planes
