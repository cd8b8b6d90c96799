#include "runtime/host/activation.h"

#include <cstdint>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/host/lanes.h"
#include "runtime/host/vector_math.h"
#include "runtime/host/width.h"

namespace clvet {
namespace {

// One activation of one vector.
template <int kBytes, Act kAct>
struct Function {
  using Float = typename Lanes<kBytes>::Float;
  using Math = VectorMath<kBytes>;

  static CLVET_INLINE void gate(float lo, float hi, Float& y) {
    y = lo * y + hi;
    y = y < 0.f ? Float{} : y;
    y = y > 1.f ? Float{} + 1.f : y;
  }

  static CLVET_INLINE void apply(float lo, float hi, Float& y) {
    const Float x = y;
    if constexpr (kAct == Act::kRelu) y = x < 0.f ? Float{} : x;
    if constexpr (kAct == Act::kLeakyRelu) y = x < 0.f ? lo * x : x;
    if constexpr (kAct == Act::kAffine) y = lo * x + hi;
    if constexpr (kAct == Act::kClip) {
      y = y < lo ? Float{} + lo : y;
      y = y > hi ? Float{} + hi : y;
    }
    if constexpr (kAct == Act::kHardSigmoid || kAct == Act::kHardSwish) gate(lo, hi, y);
    if constexpr (kAct == Act::kSigmoid || kAct == Act::kSilu) Math::sigmoid(y);
    if constexpr (kAct == Act::kHardSwish || kAct == Act::kSilu) y *= x;
    if constexpr (kAct == Act::kTanh) Math::tanh(y);
    if constexpr (kAct == Act::kExp) Math::exp(y);
    if constexpr (kAct == Act::kGeluErf) Math::below_in_normal(y), y *= x;
    if constexpr (kAct == Act::kGeluTanh) {
      // 0.5 * (1 + tanh(u)) is sigmoid(2 * u), which keeps its digits where tanh(u) is near -1.
      y = x * (1.5957691216057308f + 0.07135481282636577f * x * x);
      Math::sigmoid(y);
      y *= x;
    }
  }
};

template <Act kAct>
struct Each {
  template <int kBytes>
  static CLVET_INLINE void run(float lo, float hi, float* values, int64_t count) {
    using L = Lanes<kBytes>;
    typename L::Float y;
    int64_t i = 0;
    for (; i + L::kCount <= count; i += L::kCount) {
      L::load(values + i, y);
      Function<kBytes, kAct>::apply(lo, hi, y);
      L::store(y, values + i);
    }
    if (i == count) return;
    L::load_part(values + i, count - i, y);
    Function<kBytes, kAct>::apply(lo, hi, y);
    L::store_part(y, count - i, values + i);
  }
};

}  // namespace

void activate(const Activation& activation, float* values, int64_t count) {
  const auto lo = static_cast<float>(activation.lo), hi = static_cast<float>(activation.hi);
  switch (activation.act) {
    case Act::kNone:
      return;
    case Act::kRelu:
      return at_width<Each<Act::kRelu>>(lo, hi, values, count);
    case Act::kClip:
      return at_width<Each<Act::kClip>>(lo, hi, values, count);
    case Act::kHardSigmoid:
      return at_width<Each<Act::kHardSigmoid>>(lo, hi, values, count);
    case Act::kHardSwish:
      return at_width<Each<Act::kHardSwish>>(lo, hi, values, count);
    case Act::kSigmoid:
      return at_width<Each<Act::kSigmoid>>(lo, hi, values, count);
    case Act::kTanh:
      return at_width<Each<Act::kTanh>>(lo, hi, values, count);
    case Act::kSilu:
      return at_width<Each<Act::kSilu>>(lo, hi, values, count);
    case Act::kExp:
      return at_width<Each<Act::kExp>>(lo, hi, values, count);
    case Act::kLeakyRelu:
      return at_width<Each<Act::kLeakyRelu>>(lo, hi, values, count);
    case Act::kGeluErf:
      return at_width<Each<Act::kGeluErf>>(lo, hi, values, count);
    case Act::kGeluTanh:
      return at_width<Each<Act::kGeluTanh>>(lo, hi, values, count);
    case Act::kAffine:
      return at_width<Each<Act::kAffine>>(lo, hi, values, count);
    default:
      for (int64_t i = 0; i < count; ++i) {
        values[i] =
            static_cast<float>(apply_act(activation.act, activation.lo, activation.hi, values[i]));
      }
  }
}

}  // namespace clvet
