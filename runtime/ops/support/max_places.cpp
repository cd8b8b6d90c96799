#include "runtime/ops/support/max_places.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/window.h"

namespace clvet {
namespace {

constexpr int64_t kMostTaps = 64;

struct Problem {
  const SlidingWindow& w;
  int64_t n, c;
  // How far a step down and a step to the right reach in what an index counts.
  int64_t down, right;

  int64_t planes() const { return n * c; }
};

// What the taps see of x: [taps, planes, out_h, out_w], 0 in the padding.
Term seen_by_taps(Steps& s, const Problem& p) {
  const SlidingWindow& w = p.w;
  const auto behind = [&](size_t i) {
    const int64_t reach = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
    return std::max<int64_t>(0, reach - w.in[i] - w.pad_begin[i]);
  };
  const Term x = s.reshaped(s.input(0), {1, p.planes(), w.in[1], w.in[2]});
  const Term padded = s.one(
      "Pad", {x, integers({0, 0, w.pad_begin[1], w.pad_begin[2], 0, 0, behind(1), behind(2)})});
  std::vector<Term> taps;
  for (int64_t y = 0; y < w.kernel[1]; ++y) {
    for (int64_t x0 = 0; x0 < w.kernel[2]; ++x0) {
      const int64_t top = y * w.dilation[1], left = x0 * w.dilation[2];
      taps.push_back(s.one("Slice", {padded, integers({top, left}),
                                     integers({top + (w.out[1] - 1) * w.stride[1] + 1,
                                               left + (w.out[2] - 1) * w.stride[2] + 1}),
                                     integers({2, 3}), integers({w.stride[1], w.stride[2]})}));
    }
  }
  return taps.size() == 1 ? taps[0] : s.one("Concat", taps, {{"axis", int64_t{0}}});
}

// The first tap has the largest rank, one in the padding 0.
Tensor ranks_of_taps(const SlidingWindow& w) {
  std::vector<float> ranks;
  int64_t tap = 0;
  for (int64_t ky = 0; ky < w.kernel[1]; ++ky) {
    for (int64_t kx = 0; kx < w.kernel[2]; ++kx, ++tap) {
      for (int64_t y = 0; y < w.out[1]; ++y) {
        for (int64_t x = 0; x < w.out[2]; ++x) {
          const int64_t iy = y * w.stride[1] - w.pad_begin[1] + ky * w.dilation[1];
          const int64_t ix = x * w.stride[2] - w.pad_begin[2] + kx * w.dilation[2];
          const bool inside = iy >= 0 && iy < w.in[1] && ix >= 0 && ix < w.in[2];
          ranks.push_back(inside ? static_cast<float>(w.taps() - tap) : 0);
        }
      }
    }
  }
  return Tensor::from({w.taps(), 1, w.out[1], w.out[2]}, std::span<const float>(ranks));
}

// Where the first tap of each window lies, in or before its plane.
Tensor starts_of_windows(const Problem& p) {
  const SlidingWindow& w = p.w;
  std::vector<int64_t> starts;
  for (int64_t plane = 0; plane < p.planes(); ++plane) {
    for (int64_t y = 0; y < w.out[1]; ++y) {
      for (int64_t x = 0; x < w.out[2]; ++x) {
        starts.push_back(plane * w.in_size() + (y * w.stride[1] - w.pad_begin[1]) * p.down +
                         (x * w.stride[2] - w.pad_begin[2]) * p.right);
      }
    }
  }
  return Tensor::from({1, p.planes(), w.out[1], w.out[2]}, std::span<const int64_t>(starts));
}

// By rank: how far the tap that has it lies from the first one.
std::vector<int64_t> reach_by_rank(const Problem& p) {
  const SlidingWindow& w = p.w;
  std::vector<int64_t> reach(static_cast<size_t>(w.taps()) + 1, 0);
  for (int64_t tap = 0; tap < w.taps(); ++tap) {
    reach[static_cast<size_t>(w.taps() - tap)] =
        tap / w.kernel[2] * w.dilation[1] * p.down + tap % w.kernel[2] * w.dilation[2] * p.right;
  }
  return reach;
}

}  // namespace

std::vector<Term> largest_with_places(Steps& s, const SlidingWindow& w) {
  const Shape& shape = s.call().shape(0);
  if (w.in[0] != 1 || w.kernel[0] != 1 || w.taps() > kMostTaps || elements_of(shape) == 0)
    return {};
  const bool by_column = s.call().node.int_attr("storage_order", 0) != 0;
  const Problem p{w, shape[0], shape[1], by_column ? 1 : w.in[2], by_column ? w.in[1] : 1};
  Attributes attributes = s.call().node.attributes;
  attributes.erase("storage_order");
  const Term largest = s.one("MaxPool", {s.input(0)}, std::move(attributes));
  const Term seen = seen_by_taps(s, p);
  const Term top = s.reshaped(largest, {1, p.planes(), w.out[1], w.out[2]});
  const Term is_nan = s.one("Sub", {number(1), s.one("IsEqual", {seen, seen})});
  const Term hit = s.one("Max", {s.one("IsEqual", {seen, top}), is_nan});
  const Term best =
      s.reduced("ReduceMax", s.one("Mul", {hit, constant_term(ranks_of_taps(w))}), {0});
  const Term rank = s.one("Cast", {best}, {{"to", onnx_of_dtype(DType::kI64)}});
  const Term reach = s.one("Gather", {integers(reach_by_rank(p)), rank}, {{"axis", int64_t{0}}});
  const Term place = s.one("Add", {reach, constant_term(starts_of_windows(p))});
  return {largest, s.reshaped(place, largest.shape())};
}

}  // namespace clvet
