#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/convolved.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_conv2d_branches {
namespace {

constexpr std::string_view kOp = "conv2d_branches";

// The same strides without a border, one pixel at a time.
Window pixels_of(Window window) {
  window.kh = window.kw = window.dil_h = window.dil_w = 1;
  window.pad_top = window.pad_left = 0;
  return window;
}

// Two convolutions of one input, of groups = 1 and the same strides: the first P of OC output
// channels are made of single pixels with w_pixel, without a border; the others as in conv2d, with
// w_window.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check(kOp, dims));
  constexpr std::array names = {"P", "OC"};
  CLVET_RETURN_IF_ERROR(need_positive(kOp, dims, names));
  const Window window(dims);
  const int64_t channels = dim(dims, "OC"), of_pixels = dim(dims, "P");
  if (of_pixels >= channels) {
    return fail(ErrorCode::kInvalidArgument,
                "conv2d_branches: P = {} leaves none of the {} output channels", of_pixels,
                channels);
  }
  if ((window.oh - 1) * window.stride_h >= window.h ||
      (window.ow - 1) * window.stride_w >= window.w) {
    return fail(ErrorCode::kInvalidArgument,
                "conv2d_branches: an input of {} x {} pixels is too small for an output of {} x {}",
                window.h, window.w, window.oh, window.ow);
  }
  const auto weights = [&](const char* name, int64_t taps, int64_t count) {
    return TensorRole{
        .name = name, .kind = TensorKind::kWeights, .taps = taps, .cin = window.c, .cout = count};
  };
  return std::vector<TensorRole>{window.input(),
                                 weights("w_pixel", 1, of_pixels),
                                 weights("w_window", window.kh * window.kw, channels - of_pixels),
                                 {.name = "bias", .kind = TensorKind::kVector, .c = channels},
                                 window.output(channels)};
}

ReferenceResult reference(const CallValues& values) {
  const auto tensor = [&](const char* name) -> const Values& {
    return values.tensors.find(name)->second;
  };
  const auto place = [](int64_t at, int64_t c) { return at + c; };
  const Values& bias = tensor("bias");
  const Window window(values.dims), pixels = pixels_of(window);
  const auto of_pixels = static_cast<size_t>(dim(values.dims, "P"));
  ReferenceResult result;
  result.reduction = window.kh * window.kw * window.c + 1;
  for (int64_t output = 0; output < window.outputs(); ++output) {
    RowSums sums(bias);
    add_convolved(pixels, output, tensor("x"), tensor("w_pixel"), of_pixels, 0, place, sums);
    add_convolved(window, output, tensor("x"), tensor("w_window"), bias.size() - of_pixels,
                  of_pixels, place, sums);
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {kOp, roles, reference};

}  // namespace clvet::op_contract_conv2d_branches
