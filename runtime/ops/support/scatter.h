// What a written element becomes in ScatterElements, ScatterND and TensorScatter.
#pragma once

#include <limits>
#include <string_view>

#include "base/numbers.h"
#include "runtime/ops/support/elementwise.h"

namespace clvet {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

inline Reduction reduction_of(std::string_view word) {
  if (word == "add") return Reduction::kAdd;
  if (word == "mul") return Reduction::kMul;
  if (word == "max") return Reduction::kMax;
  return word == "min" ? Reduction::kMin : Reduction::kNone;
}

// The operator of two operands that does it, and what it leaves as it is with any other; nullptr
// where elements are replaced.
struct ReductionStep {
  const char* op = nullptr;
  double neutral = 0;
};
inline ReductionStep step_of(Reduction reduction) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::kNone:
      return {};
    case Reduction::kAdd:
      return {"Add", 0};
    case Reduction::kMul:
      return {"Mul", 1};
    case Reduction::kMax:
      return {"Max", -kInf};
    case Reduction::kMin:
      return {"Min", kInf};
  }
  return {};
}

// Truth values: or, and, or, and.
template <class T>
void reduce_into(Reduction reduction, T& to, T value) {
  switch (reduction) {
    case Reduction::kNone:
      to = value;
      return;
    case Reduction::kAdd:
      to = wrap_add(to, value);
      return;
    case Reduction::kMul:
      to = wrap_mul(to, value);
      return;
    case Reduction::kMax:
      to = larger(to, value);
      return;
    case Reduction::kMin:
      to = smaller(to, value);
      return;
  }
}

}  // namespace clvet
