// How far values are from what they should be.
#pragma once

#include <cstdint>
#include <span>

namespace clvet {

// Of any number of tensors taken together. Elements that are not finite where the reference is
// count as `lost`; where the reference is not finite itself, nothing is compared.
struct Deviation {
  int64_t compared = 0, lost = 0;
  double most = 0;  // the largest |value - reference|
  double squares = 0, reference_squares = 0, value_squares = 0, products = 0;

  // As many values as references.
  void add(std::span<const float> values, std::span<const float> reference);
  void add(const Deviation& other);

  double rms() const;        // root of the mean (value - reference)^2
  double reference() const;  // root of the mean reference^2
  // The one over the other; infinite where elements are lost, or where there is an error and the
  // reference is 0.
  double part() const;
  double cosine() const;  // of the angle between both as vectors; 1 where both are 0
  double snr_db() const;  // -20 log10(part())
};

// Keeps the larger of two errors.
inline void keep_worst(const Deviation& now, Deviation& worst) {
  if (now.part() >= worst.part()) worst = now;
}

}  // namespace clvet
