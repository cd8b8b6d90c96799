#include "runtime/ops/support/fourier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// exp(-2 pi i k / n), of an angle below a turn.
std::complex<double> root(double k, double n) {
  const double angle = -2 * std::numbers::pi * k / n;
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

Result<Fourier> Fourier::create(int64_t n, bool inverse) {
  // Three tables of less than 4n complex numbers, and one of n.
  constexpr int64_t kMostDoubles = 2 * 13;
  CLVET_RETURN_IF_ERROR(Tensor::create(DType::kF64, {n, kMostDoubles}).map([](const Tensor&) {}));
  return Fourier(static_cast<size_t>(n), inverse);
}

Fourier::Fourier(size_t n, bool inverse) : n_(n), inverse_(inverse) {
  const bool power = std::has_single_bit(n);
  room_ = power ? n : std::bit_ceil(2 * n - 1);
  for (size_t k = 0; k < room_ / 2; ++k)
    roots_.push_back(root(static_cast<double>(k), static_cast<double>(room_)));
  if (power) return;
  size_t square = 0;  // k * k modulo 2n
  for (size_t k = 0; k < n; ++k) {
    chirp_.push_back(root(static_cast<double>(square), 2 * static_cast<double>(n)));
    square = (square + 2 * k + 1) % (2 * n);
  }
  filter_.assign(room_, 0);
  for (size_t k = 0; k < n; ++k) {
    filter_[k] = std::conj(chirp_[k]);
    if (k > 0) filter_[room_ - k] = filter_[k];
  }
  halves(filter_.data());
  work_.resize(room_);
}

void Fourier::halves(std::complex<double>* x) const {
  for (size_t i = 1, j = 0; i < room_; ++i) {
    size_t bit = room_ / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < room_; half *= 2) {
    const size_t step = room_ / (2 * half);
    for (size_t first = 0; first < room_; first += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const std::complex<double> a = x[first + k], w = roots_[k * step], b = x[first + k + half];
        const std::complex<double> turned = {w.real() * b.real() - w.imag() * b.imag(),
                                             w.real() * b.imag() + w.imag() * b.real()};
        x[first + k] = a + turned;
        x[first + k + half] = a - turned;
      }
    }
  }
}

void Fourier::forward(std::complex<double>* x) {
  if (chirp_.empty()) return halves(x);
  for (size_t k = 0; k < n_; ++k) work_[k] = x[k] * chirp_[k];
  std::fill(work_.begin() + static_cast<std::ptrdiff_t>(n_), work_.end(), 0);
  halves(work_.data());
  for (size_t k = 0; k < room_; ++k) work_[k] = std::conj(work_[k] * filter_[k]);
  halves(work_.data());
  const double scale = 1 / static_cast<double>(room_);
  for (size_t k = 0; k < n_; ++k) x[k] = std::conj(work_[k]) * chirp_[k] * scale;
}

void Fourier::transform(std::complex<double>* x) {
  if (!inverse_) return forward(x);
  for (size_t k = 0; k < n_; ++k) x[k] = std::conj(x[k]);
  forward(x);
  const double scale = 1 / static_cast<double>(n_);
  for (size_t k = 0; k < n_; ++k) x[k] = std::conj(x[k]) * scale;
}

}  // namespace clvet
