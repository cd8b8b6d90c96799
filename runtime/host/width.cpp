#include "runtime/host/width.h"

#include <atomic>
#include <span>
#include <vector>

namespace clvet {
namespace {

std::vector<Width> found() {
  std::vector<Width> widths{Width::k16};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("bmi2");
  if (fma) widths.push_back(Width::k32);
  if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    widths.push_back(Width::k64);
#endif
  return widths;
}

std::atomic<Width>& chosen() {
  static std::atomic<Width> width = widths().back();
  return width;
}

}  // namespace

std::span<const Width> widths() {
  static const std::vector<Width> all = found();
  return all;
}

Width width() { return chosen().load(std::memory_order_relaxed); }

void use_width(Width width) { chosen().store(width, std::memory_order_relaxed); }

}  // namespace clvet
