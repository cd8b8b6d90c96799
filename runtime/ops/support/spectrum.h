// What DFT and STFT share: signals whose last axis is 1 (real) or 2 (real, imaginary).
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/fourier.h"

namespace clvet {

// Input 0 is such a signal.
Status check_signal(const OpCall& call);
// How many values of a transform are kept: half of them and one where `onesided` says so, which
// only the transform of a real signal can.
Result<int64_t> bins_of(const OpCall& call, int64_t onesided, int64_t length, bool inverse);
// The length or step in input i, which must be positive; `fallback` where there is none.
Result<int64_t> positive_length(const OpCall& call, size_t i, int64_t fallback);

// Transforms lines of input 0. Offsets and strides count complex numbers.
template <class T>
class SpectrumLines {
 public:
  SpectrumLines(const OpCall& call, Tensor& out, Fourier& fourier, int64_t bins)
      : in_(call.tensor(0).data<T>()),
        parts_(call.shape(0).back()),
        out_(out.data<T>()),
        fourier_(fourier),
        bins_(bins),
        line_(static_cast<size_t>(fourier.size())) {}

  // `count` of the signal, times the window where there is one, then zeros.
  void run(int64_t from, int64_t count, int64_t to, int64_t stride, const T* window = nullptr) {
    std::fill(line_.begin(), line_.end(), 0);
    for (int64_t t = 0; t < std::min(count, fourier_.size()); ++t) {
      const T* at = in_ + (from + t * stride) * parts_;
      const double weight = window ? static_cast<double>(window[t]) : 1;
      line_[static_cast<size_t>(t)] = {weight * static_cast<double>(at[0]),
                                       parts_ == 2 ? weight * static_cast<double>(at[1]) : 0};
    }
    fourier_.transform(line_.data());
    for (int64_t k = 0; k < bins_; ++k) {
      T* at = out_ + (to + k * stride) * 2;
      at[0] = static_cast<T>(line_[static_cast<size_t>(k)].real());
      at[1] = static_cast<T>(line_[static_cast<size_t>(k)].imag());
    }
  }

 private:
  const T* in_;
  int64_t parts_;
  T* out_;
  Fourier& fourier_;
  int64_t bins_;
  std::vector<std::complex<double>> line_;
};

}  // namespace clvet
