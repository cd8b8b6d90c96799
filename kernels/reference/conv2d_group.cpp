#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_conv2d_group {
namespace {

// conv2d in G groups: output channel o sees the C / G input channels of group o / (OC / G).
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("conv2d_group", dims));
  constexpr std::array names = {"OC", "G"};
  CLVET_RETURN_IF_ERROR(need_positive("conv2d_group", dims, names));
  const Window window(dims);
  const int64_t channels = dim(dims, "OC"), groups = dim(dims, "G");
  if (window.c % groups != 0 || channels % groups != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "conv2d_group: G = {} must divide the channels {} and {}", groups, window.c,
                channels);
  }
  return window.convolution("conv2d_group", dims, window.c / groups);
}

ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const int64_t channels = dim(values.dims, "OC"), groups = dim(values.dims, "G");
  const int64_t cin = window.c / groups, cout = channels / groups;
  const double* x = values.tensors.find("x")->second.data();
  const double* w = values.tensors.find("w")->second.data();
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = window.kh * window.kw * cin + 1;
  for (int64_t pixel = 0; pixel < window.outputs(); ++pixel) {
    RowSums sums(bias);
    window.each(pixel, [&](int64_t tap, int64_t at) {
      for (int64_t ci = 0; ci < cin; ++ci) {
        const double* row = w + (tap * cin + ci) * channels;
        for (int64_t o = 0; o < channels; ++o) {
          sums.add(static_cast<size_t>(o), x[at + o / cout * cin + ci] * row[o]);
        }
      }
    });
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"conv2d_group", roles, reference};

}  // namespace clvet::op_contract_conv2d_group
