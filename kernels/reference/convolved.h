// The reference of a dense convolution, however its input lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"

namespace clvet {

// place(at, c): where x holds channel c of the pixel whose channel 0 is number `at` of a
// channels-last image.
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
    window.each(output, [&](int64_t tap, int64_t at) {
      for (int64_t c = 0; c < window.c; ++c) {
        const double factor = x[static_cast<size_t>(place(at, c))];
        const double* row = w.data() + static_cast<size_t>(tap * window.c + c) * channels;
        for (size_t o = 0; o < channels; ++o) sums.add(o, factor * row[o]);
      }
    });
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace clvet
