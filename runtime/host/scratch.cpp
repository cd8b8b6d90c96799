#include "runtime/host/scratch.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clvet {

float* scratch(size_t count, int which) {
  constexpr size_t kAlign = 64;
  thread_local std::vector<float> kept[2];
  std::vector<float>& mine = kept[which];
  if (mine.size() < count + kAlign) mine = std::vector<float>(count + kAlign);
  const auto address = reinterpret_cast<uintptr_t>(mine.data());
  return mine.data() + (kAlign - address % kAlign) % kAlign / sizeof(float);
}

}  // namespace clvet
