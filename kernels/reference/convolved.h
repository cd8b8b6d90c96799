// The reference of a dense convolution, however its input lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"

namespace clvet {

// Adds to the sums from `first` on what filters w [tap][channel][filter] make of an output
// position. place(at, c): where x holds channel c of the pixel whose channel 0 is number `at` of a
// channels-last image.
template <class Place>
void add_convolved(const Window& window, int64_t output, const Values& x, const Values& w,
                   size_t filters, size_t first, const Place& place, RowSums& sums) {
  window.each(output, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < window.c; ++c) {
      const double factor = x[static_cast<size_t>(place(at, c))];
      const double* row = w.data() + static_cast<size_t>(tap * window.c + c) * filters;
      for (size_t o = 0; o < filters; ++o) sums.add(first + o, factor * row[o]);
    }
  });
}

template <class Place>
ReferenceResult convolved(const CallValues& values, const Window& window, const Place& place) {
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  const size_t channels = bias.size();
  ReferenceResult result;
  result.reduction = window.kh * window.kw * window.c + 1;
  for (int64_t output = 0; output < window.outputs(); ++output) {
    RowSums sums(bias);
    add_convolved(window, output, x, w, channels, 0, place, sums);
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace clvet
