// The discrete Fourier transform of one line of any length, in double.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace clvet {

// y[k] = sum over t of x[t] * exp(-2 pi i k t / n); the inverse has the other sign and divides by
// n. O(n log n) for every n: by halves where n is a power of two, else as a convolution with a
// chirp (L. Bluestein, 1970).
class Fourier {
 public:
  // n > 0. kResourceExhausted where the machine lacks the memory for its tables.
  static Result<Fourier> create(int64_t n, bool inverse);
  // n values in place.
  void transform(std::complex<double>* x);
  int64_t size() const { return static_cast<int64_t>(n_); }

 private:
  using Line = std::vector<std::complex<double>>;
  Fourier(size_t n, bool inverse);
  void forward(std::complex<double>* x);
  void halves(std::complex<double>* x) const;  // of room_ values

  size_t n_, room_ = 1;  // room_: a power of two
  bool inverse_;
  Line roots_, chirp_, filter_, work_;
};

}  // namespace clvet
