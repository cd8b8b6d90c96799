#include "runtime/ops/support/transposed_volume.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet {
namespace {

constexpr int64_t kMostTaps = 16;

// Of the window's two inner axes.
Attributes attributes_of_planes(const SlidingWindow& w) {
  std::vector<int64_t> begin, end, more;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const int64_t whole = (w.in[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
    const int64_t cut = whole - w.pad_begin[i] - w.out[i];
    begin.push_back(w.pad_begin[i]);
    end.push_back(std::max<int64_t>(0, cut));
    more.push_back(std::max<int64_t>(0, -cut));
  }
  begin.insert(begin.end(), end.begin(), end.end());
  return {{"strides", std::vector<int64_t>{w.stride[1], w.stride[2]}},
          {"dilations", std::vector<int64_t>{w.dilation[1], w.dilation[2]}},
          {"pads", std::move(begin)},
          {"output_padding", std::move(more)}};
}

}  // namespace

std::vector<Term> transposed_volume(Steps& s, const SlidingWindow& w) {
  const auto& call = s.call();
  const Shape &x = call.shape(0), &weights = call.shape(1);
  if (call.node.int_attr("group", 1) != 1 || w.kernel[0] > kMostTaps || elements_of(x) == 0)
    return {};
  const int64_t n = x[0], depth = w.in[0], channels = weights[1];
  const int64_t plane = channels * w.out[1] * w.out[2];
  const Term planes =
      s.reshaped(s.transposed(s.input(0), {0, 2, 1, 3, 4}), {n * depth, x[1], w.in[1], w.in[2]});
  const auto taps = s.all("Split", {s.input(1), integers(std::vector<int64_t>(w.kernel[0], 1))},
                          {{"axis", int64_t{2}}}, static_cast<size_t>(w.kernel[0]));
  const Attributes attributes = attributes_of_planes(w);
  Term sum = no_term();
  for (int64_t k = 0; k < w.kernel[0]; ++k) {
    const Term tap =
        s.reshaped(taps[static_cast<size_t>(k)], {x[1], channels, w.kernel[1], w.kernel[2]});
    const Term made =
        s.reshaped(s.one("ConvTranspose", {planes, tap}, attributes), {n, depth, 1, plane});
    const Term apart =
        s.reshaped(s.one("Pad", {made, integers({0, 0, 0, 0, 0, 0, w.stride[0] - 1, 0})}),
                   {n, depth * w.stride[0], plane});
    const int64_t begin = k * w.dilation[0] - w.pad_begin[0];
    const int64_t end = w.out[0] - depth * w.stride[0] - begin;
    const Term placed = s.one("Pad", {apart, integers({0, begin, 0, 0, end, 0})});
    sum = sum.present ? s.one("Add", {sum, placed}) : placed;
  }
  Term y = s.reshaped(sum, {n * w.out[0], channels, w.out[1], w.out[2]});
  if (call.has(2)) y = s.one("Add", {y, s.reshaped(s.input(2), {1, channels, 1, 1})});
  const Term apart = s.reshaped(y, {n, w.out[0], channels, w.out[1], w.out[2]});
  return {s.transposed(apart, {0, 2, 1, 3, 4})};
}

}  // namespace clvet
