// Damage to GGUF files at random places, and a bound on the memory that reading them may take.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <random>
#include <string>

#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet::test {

// No more memory to write to than this beyond what the process has (files that are mapped do not
// count): an allocation that a file's numbers drive fails the test. The address sanitizer maps its
// own; there, no single allocation may be larger.
inline constexpr size_t kMostMemory = size_t{32} << 20;

class MemoryLimit {
 public:
  MemoryLimit();
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit old_{};
};

// The file with one to three bytes, bits, words of 8 or runs changed where `random` says; most of
// them in what is parsed.
std::string damaged(const GgufBuilder& builder, std::mt19937_64& random);

}  // namespace clvet::test
