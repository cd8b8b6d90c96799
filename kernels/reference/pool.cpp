#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_pool {
namespace {

// kind 0: the largest value of the window that lies in the image. kind 1: the mean over the
// window's positions in the image or, with count_include_pad, in the image and its four pads
// (positions beyond, which ceil_mode brings, never count).
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("pool", dims));
  for (const char* name : {"pad_bottom", "pad_right", "kind", "count_include_pad"}) {
    if (dim_or(dims, name, -1) < 0) {
      return fail(ErrorCode::kInvalidArgument, "pool: dim '{}' is absent or negative", name);
    }
  }
  const Window window(dims);
  return std::vector<TensorRole>{window.input(), window.output(window.c)};
}

int64_t positions(int64_t out, int64_t stride, int64_t pad, int64_t end, int64_t taps,
                  int64_t dilation) {
  int64_t count = 0;
  for (int64_t i = 0; i < taps; ++i) count += out * stride - pad + i * dilation < end;
  return count;
}

ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const bool average = dim(values.dims, "kind") == 1;
  const bool with_pads = dim(values.dims, "count_include_pad") != 0;
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  result.reduction = average ? window.kh * window.kw : 1;
  for (int64_t pixel = 0; pixel < window.n * window.oh * window.ow; ++pixel) {
    const int64_t oy = pixel / window.ow % window.oh, ox = pixel % window.ow;
    const auto channels = static_cast<size_t>(window.c);
    Values value(channels, average ? 0 : -std::numeric_limits<double>::infinity());
    Values squares(channels, 0);
    int64_t inside = 0;
    window.each(pixel / (window.oh * window.ow), oy, ox, [&](int64_t, int64_t at) {
      ++inside;
      for (size_t c = 0; c < channels; ++c) {
        const double term = x[static_cast<size_t>(at) + c];
        value[c] = average ? value[c] + term : std::max(value[c], term);
        squares[c] += term * term;
      }
    });
    if (average) {
      if (with_pads) {
        inside =
            positions(oy, window.stride_h, window.pad_top,
                      window.h + dim_or(values.dims, "pad_bottom", 0), window.kh, window.dil_h) *
            positions(ox, window.stride_w, window.pad_left,
                      window.w + dim_or(values.dims, "pad_right", 0), window.kw, window.dil_w);
      }
      const double count = std::max<double>(static_cast<double>(inside), 1);
      for (size_t c = 0; c < channels; ++c) {
        value[c] /= count;
        squares[c] /= count * count;
      }
      result.sum_squares.insert(result.sum_squares.end(), squares.begin(), squares.end());
    }
    result.value.insert(result.value.end(), value.begin(), value.end());
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"pool", roles, reference};

}  // namespace clvet::op_contract_pool
