// What conv2d, depthwise and pool share: a KH x KW window over an image of H x W.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet {

struct Window {
  int64_t n, h, w, c, kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w, oh, ow;

  static Status check(std::string_view op, const Dims& dims) {
    constexpr std::array names = {"N",        "H",        "W",     "C",     "KH", "KW",
                                  "stride_h", "stride_w", "dil_h", "dil_w", "OH", "OW"};
    CLVET_RETURN_IF_ERROR(need_positive(op, dims, names));
    for (const char* name : {"pad_top", "pad_left"}) {
      if (dim_or(dims, name, -1) < 0) {
        return fail(ErrorCode::kInvalidArgument, "{}: dim '{}' is missing or negative", op, name);
      }
    }
    return {};
  }

  explicit Window(const Dims& d)
      : n(dim(d, "N")),
        h(dim(d, "H")),
        w(dim(d, "W")),
        c(dim(d, "C")),
        kh(dim(d, "KH")),
        kw(dim(d, "KW")),
        stride_h(dim(d, "stride_h")),
        stride_w(dim(d, "stride_w")),
        pad_top(dim_or(d, "pad_top", 0)),
        pad_left(dim_or(d, "pad_left", 0)),
        dil_h(dim(d, "dil_h")),
        dil_w(dim(d, "dil_w")),
        oh(dim(d, "OH")),
        ow(dim(d, "OW")) {}

  int64_t outputs() const { return n * oh * ow; }  // output positions

  // Calls visit(tap, pixel) for each tap of an output position that lies inside the image; pixel is
  // the index of its channel 0.
  template <class Visit>
  void each(int64_t output, Visit visit) const {
    const int64_t b = output / (oh * ow), y = output / ow % oh, x = output % ow;
    for (int64_t i = 0; i < kh; ++i) {
      const int64_t iy = y * stride_h - pad_top + i * dil_h;
      if (iy < 0 || iy >= h) continue;
      for (int64_t j = 0; j < kw; ++j) {
        const int64_t ix = x * stride_w - pad_left + j * dil_w;
        if (ix >= 0 && ix < w) visit(i * kw + j, ((b * h + iy) * w + ix) * c);
      }
    }
  }

  TensorRole input() const {
    return {.name = "x", .kind = TensorKind::kInput, .n = n, .h = h, .w = w, .c = c};
  }
  TensorRole output(int64_t channels) const {
    return {.name = "y", .kind = TensorKind::kOutput, .n = n, .h = oh, .w = ow, .c = channels};
  }

  // Input, weights of `cin` rows a tap and "OC" columns (a dim that must be positive), bias,
  // output.
  Result<std::vector<TensorRole>> convolution(std::string_view op, const Dims& dims,
                                              int64_t cin) const {
    constexpr std::array names = {"OC"};
    CLVET_RETURN_IF_ERROR(need_positive(op, dims, names));
    const int64_t channels = dim(dims, "OC");
    return std::vector<TensorRole>{
        input(),
        {.name = "w", .kind = TensorKind::kWeights, .taps = kh * kw, .cin = cin, .cout = channels},
        {.name = "bias", .kind = TensorKind::kVector, .c = channels},
        output(channels)};
  }
};

}  // namespace clvet
