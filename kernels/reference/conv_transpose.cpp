#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_conv_transpose {
namespace {

// The transpose of conv2d: input (iy, ix) adds w[i, j] times its value to output (iy * stride_h -
// pad_top + i * dil_h, ix * stride_w - pad_left + j * dil_w). Groups = 1; what falls outside of
// OH x OW is lost.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("conv_transpose", dims));
  const Window window(dims);
  return window.convolution("conv_transpose", dims, window.c);
}

struct Sums {
  Values sum, squares;
  std::vector<int64_t> terms;  // of each output pixel
  Sums(const Values& bias, int64_t outputs) : terms(static_cast<size_t>(outputs)) {
    for (int64_t p = 0; p < outputs; ++p) {
      sum.insert(sum.end(), bias.begin(), bias.end());
      for (const double b : bias) squares.push_back(b * b);
    }
  }
};

// Adds what input `from`, C values, gives through one tap to output pixel `to`.
void scatter(const double* from, const double* w, int64_t c, int64_t channels, int64_t to,
             Sums& sums) {
  sums.terms[static_cast<size_t>(to)] += c;
  for (int64_t ci = 0; ci < c; ++ci) {
    for (int64_t o = 0; o < channels; ++o) {
      const double term = from[ci] * w[ci * channels + o];
      sums.sum[static_cast<size_t>(to * channels + o)] += term;
      sums.squares[static_cast<size_t>(to * channels + o)] += term * term;
    }
  }
}

ReferenceResult reference(const CallValues& values) {
  const Window win(values.dims);
  const int64_t channels = dim(values.dims, "OC");
  const double* x = values.tensors.find("x")->second.data();
  const double* w = values.tensors.find("w")->second.data();
  Sums sums(values.tensors.find("bias")->second, win.outputs());
  for (int64_t p = 0; p < win.n * win.h * win.w; ++p) {
    const int64_t ix = p % win.w, iy = p / win.w % win.h, image = p / (win.w * win.h);
    for (int64_t tap = 0; tap < win.kh * win.kw; ++tap) {
      const int64_t oy = iy * win.stride_h - win.pad_top + tap / win.kw * win.dil_h;
      const int64_t ox = ix * win.stride_w - win.pad_left + tap % win.kw * win.dil_w;
      if (oy < 0 || oy >= win.oh || ox < 0 || ox >= win.ow) continue;
      const int64_t to = (image * win.oh + oy) * win.ow + ox;
      scatter(x + p * win.c, w + tap * win.c * channels, win.c, channels, to, sums);
    }
  }
  ReferenceResult result;
  result.reduction = *std::max_element(sums.terms.begin(), sums.terms.end()) + 1;
  result.value = std::move(sums.sum);
  result.sum_squares = std::move(sums.squares);
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"conv_transpose", roles, reference};

}  // namespace clvet::op_contract_conv_transpose
