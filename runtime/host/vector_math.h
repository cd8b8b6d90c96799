// Functions of vectors of floats, for the bodies of runtime/host/width.h. The polynomials are those
// of Cephes (single/expf.c, tanhf.c and ndtrf.c), with their published errors below 2 ulp.
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
    Float p;
    polynomial({1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                1.6666665459e-1f, 5.0000001201e-1f},
               r, p);
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
    Float p;
    polynomial({-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                -3.33332819422e-1f},
               z, p);
    const Float near = p * z * x + x;
    x = size < 0.625f ? near : (x < 0.f ? -far : far);
  }

  // x becomes the part of the standard normal distribution below it: (1 + erf(x / sqrt 2)) / 2,
  // with a relative error of x * x ulp where that is small.
  static CLVET_INLINE void below_in_normal(Float& x) {
    const Float z = x * 0.707106781186547524f;
    const Float size = z < 0.f ? -z : z;
    Float e = -size * size;
    exp(e);
    const Float q = 1.f / (size > 1.f ? size : Float{} + 1.f);
    const Float y = q * q;
    Float p, r, t;
    polynomial({2.326819970068386e-2f, -1.387039388740657e-1f, 3.687424674597105e-1f,
                -5.824733027278666e-1f, 6.210004621745983e-1f, -4.944515323274145e-1f,
                3.404879937665872e-1f, -2.741127028184656e-1f, 5.638259427386472e-1f},
               y, p);
    polynomial(
        {-1.047766399936249e+1f, 1.297719955372516e+1f, -7.495518717768503f, 2.921019019210786f,
         -1.015265279202700f, 4.218463358204948e-1f, -2.820767439740514e-1f, 5.641895067754075e-1f},
        y, r);
    const Float tail = 0.5f * e * q * (size < 2.f ? p : r);
    const Float far = z < 0.f ? tail : 1.f - tail;
    polynomial(
        {7.853861353153693e-5f, -8.010193625184903e-4f, 5.188327685732524e-3f,
         -2.685381193529856e-2f, 1.128358514861418e-1f, -3.761262582423300e-1f, 1.128379165726710f},
        z * z, t);
    x = size < 1.f ? 0.5f + 0.5f * z * t : far;
  }

 private:
  // `factors` of the powers of x, that of the highest one first.
  template <int kTerms>
  static CLVET_INLINE void polynomial(const float (&factors)[kTerms], const Float& x, Float& sum) {
    sum = x * factors[0] + factors[1];
    CLVET_UNROLL for (int i = 2; i < kTerms; ++i) sum = sum * x + factors[i];
  }
};

}  // namespace clvet
