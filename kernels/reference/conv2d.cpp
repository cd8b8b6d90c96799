#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/convolved.h"
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
  return convolved(values, Window(values.dims), [](int64_t at, int64_t c) { return at + c; });
}

}  // namespace

extern const OpContract def;
const OpContract def = {"conv2d", roles, reference};

}  // namespace clvet::op_contract_conv2d
