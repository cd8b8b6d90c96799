#include "runtime/ops/support/volume.h"

#include <cstdint>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet {
namespace {

constexpr int64_t kMostTaps = 16;

// Of the window's two inner axes.
Attributes attributes_of_planes(const SlidingWindow& w, int64_t groups) {
  return {
      {"group", groups},
      {"strides", std::vector<int64_t>{w.stride[1], w.stride[2]}},
      {"dilations", std::vector<int64_t>{w.dilation[1], w.dilation[2]}},
      {"pads", std::vector<int64_t>{w.pad_begin[1], w.pad_begin[2], w.pad_end[1], w.pad_end[2]}}};
}

// [n, c, depth, plane] as the planes that each tap meets, one tap behind the other along the third
// axis.
Term planes_by_tap(Steps& s, Term x, const SlidingWindow& w) {
  if (w.pad_begin[0] > 0 || w.pad_end[0] > 0)
    x = s.one("Pad", {x, integers({0, 0, w.pad_begin[0], 0, 0, 0, w.pad_end[0], 0})});
  std::vector<Term> taps;
  for (int64_t k = 0; k < w.kernel[0]; ++k) {
    const int64_t begin = k * w.dilation[0], end = begin + (w.out[0] - 1) * w.stride[0] + 1;
    taps.push_back(s.one(
        "Slice", {x, integers({begin}), integers({end}), integers({2}), integers({w.stride[0]})}));
  }
  return taps.size() == 1 ? taps[0] : s.one("Concat", taps, {{"axis", int64_t{2}}});
}

}  // namespace

std::vector<Term> volume(Steps& s, const SlidingWindow& w) {
  const auto& call = s.call();
  const Shape &x = call.shape(0), &weights = call.shape(1);
  const int64_t n = x[0], taps = w.kernel[0], depth = w.out[0];
  if (taps > kMostTaps || elements_of(x) == 0 || w.out_size() == 0) return {};
  const int64_t plane = w.in[1] * w.in[2];
  const Term seen = planes_by_tap(s, s.reshaped(s.input(0), {n, x[1], w.in[0], plane}), w);
  const Term channels =
      s.transposed(s.reshaped(seen, {n, x[1] * taps, depth, plane}), {0, 2, 1, 3});
  const Term planes = s.reshaped(channels, {n * depth, x[1] * taps, w.in[1], w.in[2]});
  const Term kernel =
      s.reshaped(s.input(1), {weights[0], weights[1] * taps, w.kernel[1], w.kernel[2]});
  const Term y = s.one("Conv", {planes, kernel, call.has(2) ? s.input(2) : no_term()},
                       attributes_of_planes(w, call.node.int_attr("group", 1)));
  const Term apart = s.reshaped(y, {n, depth, weights[0], w.out[1] * w.out[2]});
  return {s.reshaped(s.transposed(apart, {0, 2, 1, 3}), w.output_shape({n, weights[0]}))};
}

}  // namespace clvet
