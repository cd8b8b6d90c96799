// Functions of vectors of floats, for the bodies of runtime/host/width.h. The polynomials are those
// of Cephes (single/expf.c, single/tanhf.c), with their published errors below 2 ulp.
#pragma once

#include "runtime/host/lanes.h"
#include "runtime/host/width.h"

namespace clvet {

template <int kBytes>
struct VectorMath {
  using Float = typename Lanes<kBytes>::Float;
  using Int = typename Lanes<kBytes>::Int;

  // x becomes e^x; beyond the range of floats infinity or 0. NaN stays NaN.
  static CLVET_INLINE void exp(Float& x) {
    constexpr float kRounder = 12582912.f;  // 1.5 * 2^23: what is added to it is rounded
    x = x < -104.f ? Float{} - 104.f : x;
    x = x > 89.f ? Float{} + 89.f : x;
    const Float shifted = x * 1.44269504088896341f + kRounder;
    const Float n = shifted - kRounder;
    const Float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    Float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.f;
    // 2^n in two factors, as one would not be a float at both ends of the range.
    const Int power = (Int)shifted - 0x4b400000;
    const Int half = power >> 1;
    const Int low = (half + 127) << 23, high = (power - half + 127) << 23;
    x = p * (Float)low * (Float)high;
  }

  static CLVET_INLINE void sigmoid(Float& x) {
    Float e = x < 0.f ? x : -x;
    exp(e);
    const Float top = x < 0.f ? e : Float{} + 1.f;
    x = top / (1.f + e);
  }

  static CLVET_INLINE void tanh(Float& x) {
    const Float size = x < 0.f ? -x : x;
    Float e = 2.f * size;
    exp(e);
    const Float far = 1.f - 2.f / (e + 1.f);
    const Float z = x * x;
    Float p = z * -5.70498872745e-3f + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const Float near = p * z * x + x;
    x = size < 0.625f ? near : (x < 0.f ? -far : far);
  }
};

}  // namespace clvet
