#include "runtime/host/scratch.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace clvet {
namespace {

constexpr size_t kAlign = 64;
// Floats of a piece that is kept: more than a block of a product needs.
constexpr size_t kMostKept = size_t{1} << 20;

std::vector<std::vector<float>>& kept() {
  thread_local std::vector<std::vector<float>> pieces;
  return pieces;
}

}  // namespace

Scratch::Scratch(size_t count) {
  if (!kept().empty()) {
    memory_ = std::move(kept().back());
    kept().pop_back();
  }
  if (memory_.size() < count + kAlign) memory_ = std::vector<float>(count + kAlign);
  const auto address = reinterpret_cast<uintptr_t>(memory_.data());
  data_ = memory_.data() + (kAlign - address % kAlign) % kAlign / sizeof(float);
}

Scratch::~Scratch() {
  if (memory_.size() > kMostKept) return;
  try {
    kept().push_back(std::move(memory_));
  } catch (...) {
    // What is not kept is made again.
  }
}

}  // namespace clvet
