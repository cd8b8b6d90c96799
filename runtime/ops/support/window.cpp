#include "runtime/ops/support/window.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

constexpr int64_t kLimit = int64_t{1} << 31;

// Copies `count` values of an optional list into the last axes of `target`.
Status take(const std::vector<int64_t>* list, size_t count, int64_t lowest, const char* what,
            Extent3& target) {
  if (!list) return {};
  if (list->size() != count) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} values, but there are {} axes", what,
                list->size(), count);
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = (*list)[i];
    if (value < lowest || value >= kLimit) {
      return fail(ErrorCode::kInvalidArgument, "{} contains {}, which is out of range", what,
                  value);
    }
    target[3 - count + i] = value;
  }
  return {};
}

Status take_pads(const std::vector<int64_t>& pads, SlidingWindow& window) {
  const auto count = static_cast<size_t>(window.rank);
  if (pads.size() != 2 * count) {
    return fail(ErrorCode::kInvalidArgument,
                "pads has {} values, but each of the {} axes needs two", pads.size(), count);
  }
  const std::vector<int64_t> begin(pads.begin(), pads.begin() + window.rank);
  const std::vector<int64_t> end(pads.begin() + window.rank, pads.end());
  CLVET_RETURN_IF_ERROR(take(&begin, count, 0, "pads", window.pad_begin));
  return take(&end, count, 0, "pads", window.pad_end);
}

Result<SlidingWindow> common(const Node& node, const Shape& shape, const Shape& kernel) {
  SlidingWindow window;
  window.rank = static_cast<int>(shape.size()) - 2;
  if (window.rank < 1 || window.rank > 3) {
    return fail(ErrorCode::kUnsupported, "{} does not support a tensor of rank {}", node.op,
                shape.size());
  }
  const auto count = static_cast<size_t>(window.rank);
  const std::vector<int64_t> spatial(shape.begin() + 2, shape.end());
  const std::vector<int64_t>* given = node.ints_attr("kernel_shape");
  CLVET_RETURN_IF_ERROR(take(&spatial, count, 0, "the input", window.in));
  CLVET_RETURN_IF_ERROR(take(given ? given : &kernel, count, 1, "kernel_shape", window.kernel));
  if (given && !kernel.empty() && *given != kernel) {
    return fail(ErrorCode::kInvalidArgument, "kernel_shape {} contradicts the weights {}",
                to_string(*given), to_string(kernel));
  }
  CLVET_RETURN_IF_ERROR(take(node.ints_attr("strides"), count, 1, "strides", window.stride));
  CLVET_RETURN_IF_ERROR(take(node.ints_attr("dilations"), count, 1, "dilations", window.dilation));
  if (const auto* pads = node.ints_attr("pads")) CLVET_RETURN_IF_ERROR(take_pads(*pads, window));
  return window;
}

// Of a transposed window: what output_shape, with or without batch and channels, or auto_pad says;
// -1 where neither does.
Result<Extent3> wanted_extents(const Node& node, const SlidingWindow& window) {
  Extent3 wanted{-1, -1, -1};
  const auto count = static_cast<size_t>(window.rank);
  const auto* given = node.ints_attr("output_shape");
  const bool full = given && given->size() == count + 2;
  const std::vector<int64_t> tail =
      full ? std::vector<int64_t>(given->begin() + 2, given->end()) : std::vector<int64_t>{};
  CLVET_RETURN_IF_ERROR(take(full ? &tail : given, count, 1, "output_shape", wanted));
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  if (given || (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")) return wanted;
  for (int i = 3 - window.rank; i < 3; ++i) wanted[i] = window.in[i] * window.stride[i];
  return wanted;
}

void split_padding(int64_t total, bool upper, int64_t& begin, int64_t& end) {
  total = std::max<int64_t>(total, 0);
  begin = upper ? total / 2 : total - total / 2;
  end = total - begin;
}

}  // namespace

Shape SlidingWindow::output_shape(Shape leading) const {
  leading.insert(leading.end(), out.end() - rank, out.end());
  return leading;
}

SlidingWindow SlidingWindow::compact() const {
  SlidingWindow w = *this;
  const auto is_one = [&](size_t i) {
    return w.in[i] == 1 && w.out[i] == 1 && w.kernel[i] == 1 && w.pad_begin[i] == 0;
  };
  for (int turn = 0; turn < 2 && is_one(2); ++turn) {
    for (Extent3* each :
         {&w.in, &w.out, &w.kernel, &w.stride, &w.dilation, &w.pad_begin, &w.pad_end})
      std::rotate(each->begin(), each->end() - 1, each->end());
  }
  return w;
}

Result<SlidingWindow> window_of(const Node& node, const Shape& shape, const Shape& kernel) {
  CLVET_ASSIGN_OR_RETURN(SlidingWindow window, common(node, shape, kernel));
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  const bool ceil = node.int_attr("ceil_mode", 0) != 0;
  for (int i = 3 - window.rank; i < 3; ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    int64_t &begin = window.pad_begin[i], &end = window.pad_end[i];
    if (auto_pad == "VALID") begin = end = 0;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const int64_t out = (window.in[i] + window.stride[i] - 1) / window.stride[i];
      split_padding((out - 1) * window.stride[i] + reach - window.in[i], auto_pad == "SAME_UPPER",
                    begin, end);
    }
    const int64_t span = window.in[i] + begin + end - reach;
    if (ceil ? span <= -window.stride[i] : span < 0) {
      return fail(ErrorCode::kInvalidArgument, "{}'s window of {} is larger than its input of {}",
                  node.op, reach, window.in[i] + begin + end);
    }
    window.out[i] = (span + (ceil ? window.stride[i] - 1 : 0)) / window.stride[i] + 1;
    // A last window that would begin in the padding behind the input does not count.
    if (ceil && (window.out[i] - 1) * window.stride[i] >= window.in[i] + begin) --window.out[i];
  }
  return window;
}

Result<SlidingWindow> transposed_window_of(const Node& node, const Shape& shape,
                                           const Shape& kernel) {
  CLVET_ASSIGN_OR_RETURN(SlidingWindow window, common(node, shape, kernel));
  const auto count = static_cast<size_t>(window.rank);
  Extent3 extra{0, 0, 0};
  CLVET_RETURN_IF_ERROR(take(node.ints_attr("output_padding"), count, 0, "output_padding", extra));
  CLVET_ASSIGN_OR_RETURN(const Extent3 wanted, wanted_extents(node, window));
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  for (int i = 3 - window.rank; i < 3; ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
    const int64_t whole = window.stride[i] * (window.in[i] - 1) + extra[i] + reach;
    int64_t &begin = window.pad_begin[i], &end = window.pad_end[i];
    if (auto_pad == "VALID") begin = end = 0;
    if (wanted[i] >= 0) split_padding(whole - wanted[i], auto_pad == "SAME_UPPER", begin, end);
    window.out[i] = wanted[i] >= 0 ? wanted[i] : whole - begin - end;
    if (window.out[i] < 1) {
      return fail(ErrorCode::kInvalidArgument, "ConvTranspose's output would have the extent {}",
                  window.out[i]);
    }
  }
  return window;
}

void col2im(const SlidingWindow& window, const float* matrix, int64_t channels, float* image) {
  const auto& [in, out, kernel, stride, dilation, pad] = std::tie(
      window.in, window.out, window.kernel, window.stride, window.dilation, window.pad_begin);
  for (int64_t c = 0; c < channels; ++c) {
    float* plane = image + c * window.out_size();
    for (int64_t tap = 0; tap < window.taps(); ++tap) {
      const int64_t kx = tap % kernel[2], ky = tap / kernel[2] % kernel[1],
                    kz = tap / (kernel[2] * kernel[1]);
      for (int64_t z = 0; z < in[0]; ++z) {
        for (int64_t y = 0; y < in[1]; ++y, matrix += in[2]) {
          const int64_t oz = z * stride[0] - pad[0] + kz * dilation[0];
          const int64_t oy = y * stride[1] - pad[1] + ky * dilation[1];
          if (oz < 0 || oz >= out[0] || oy < 0 || oy >= out[1]) continue;
          float* row = plane + (oz * out[1] + oy) * out[2];
          const int64_t ox = kx * dilation[2] - pad[2];
          const int64_t first = ox < 0 ? (-ox + stride[2] - 1) / stride[2] : 0;
          const int64_t room = out[2] - 1 - ox;
          const int64_t last = room < 0 ? 0 : std::min(in[2], room / stride[2] + 1);
          for (int64_t x = first; x < last; ++x) row[ox + x * stride[2]] += matrix[x];
        }
      }
    }
  }
}

bool window_dims(const SlidingWindow& window, Dims& dims) {
  if (window.rank > 2) return false;
  dims["H"] = window.in[1];
  dims["W"] = window.in[2];
  dims["OH"] = window.out[1];
  dims["OW"] = window.out[2];
  dims["KH"] = window.kernel[1];
  dims["KW"] = window.kernel[2];
  dims["stride_h"] = window.stride[1];
  dims["stride_w"] = window.stride[2];
  dims["pad_top"] = window.pad_begin[1];
  dims["pad_left"] = window.pad_begin[2];
  dims["dil_h"] = window.dilation[1];
  dims["dil_w"] = window.dilation[2];
  return true;
}

}  // namespace clvet
