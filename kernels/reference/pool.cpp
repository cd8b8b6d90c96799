#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
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
      return fail(ErrorCode::kInvalidArgument, "pool: dim '{}' is missing or negative", name);
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

// Positions of the window at (oy, ox) in the image and its four pads.
int64_t positions_with_pads(const Window& window, const Dims& dims, int64_t oy, int64_t ox) {
  const int64_t bottom = window.h + dim_or(dims, "pad_bottom", 0);
  const int64_t right = window.w + dim_or(dims, "pad_right", 0);
  return positions(oy, window.stride_h, window.pad_top, bottom, window.kh, window.dil_h) *
         positions(ox, window.stride_w, window.pad_left, right, window.kw, window.dil_w);
}

void add_mean(const Window& window, const CallValues& values, int64_t pixel,
              ReferenceResult& result) {
  const Values& x = values.tensors.find("x")->second;
  const auto channels = static_cast<size_t>(window.c);
  RowSums sums(channels);
  int64_t counted = 0;
  window.each(pixel, [&](int64_t, int64_t at) {
    ++counted;
    for (size_t c = 0; c < channels; ++c) sums.add(c, x[static_cast<size_t>(at) + c]);
  });
  if (dim(values.dims, "count_include_pad") != 0) {
    const int64_t oy = pixel / window.ow % window.oh, ox = pixel % window.ow;
    counted = positions_with_pads(window, values.dims, oy, ox);
  }
  const double count = std::max<double>(static_cast<double>(counted), 1);
  for (double& value : sums.sum) value /= count;
  for (double& square : sums.squares) square /= count * count;
  sums.append_to(result);
}

void add_largest(const Window& window, const CallValues& values, int64_t pixel,
                 ReferenceResult& result) {
  const Values& x = values.tensors.find("x")->second;
  Values largest(static_cast<size_t>(window.c), -std::numeric_limits<double>::infinity());
  window.each(pixel, [&](int64_t, int64_t at) {
    for (size_t c = 0; c < largest.size(); ++c) {
      largest[c] = larger(largest[c], x[static_cast<size_t>(at) + c]);
    }
  });
  result.value.insert(result.value.end(), largest.begin(), largest.end());
}

ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const bool average = dim(values.dims, "kind") == 1;
  ReferenceResult result;
  result.reduction = average ? window.kh * window.kw : 1;
  const auto add = average ? add_mean : add_largest;
  for (int64_t pixel = 0; pixel < window.outputs(); ++pixel) add(window, values, pixel, result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"pool", roles, reference};

}  // namespace clvet::op_contract_pool
