// One body of code, compiled for each width of vectors that the processors of an architecture have;
// the machine decides which one runs. On x86-64: 16 bytes (SSE2, every processor), 32 (AVX2 and
// FMA), 64 (AVX-512). Elsewhere 16 bytes, of the compiler's own target.
#pragma once

#include <cstdint>
#include <span>

namespace clvet {

enum class Width : uint8_t { k16, k32, k64 };  // bytes of a vector

// Those that this machine can run, narrowest first; never empty.
std::span<const Width> widths();
// What at_width() takes: the widest one, unless use_width() said another.
Width width();
// For the process, from now on; one of widths(). Tests and measurements alone need it.
void use_width(Width width);

#define CLVET_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__)
#define CLVET_TARGET_32 __attribute__((target("avx,avx2,fma,f16c,bmi,bmi2")))
#define CLVET_TARGET_64 \
  __attribute__((target("avx,avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")))

template <class Body, class... Args>
CLVET_TARGET_64 void at_64(Args... args) {
  Body::template run<64>(args...);
}
template <class Body, class... Args>
CLVET_TARGET_32 void at_32(Args... args) {
  Body::template run<32>(args...);
}
#endif

// Body::run<bytes of a vector>(args...), a static CLVET_INLINE function that calls nothing but such
// functions in its loops: what is not inlined is compiled for the narrowest width.
template <class Body, class... Args>
void at_width(Args... args) {
#if defined(__x86_64__)
  if (width() == Width::k64) return at_64<Body>(args...);
  if (width() == Width::k32) return at_32<Body>(args...);
#endif
  Body::template run<16>(args...);
}

}  // namespace clvet
