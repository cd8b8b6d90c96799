// Damage to GGUF files at random places, and a bound on the memory that reading them may take.
#pragma once

#include <sys/resource.h>

#include <fstream>
#include <random>
#include <string>

#include "tests/runtime/gguf/gguf_builder.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

namespace clvet::test {

// No more address space than this beyond what the process has: an allocation that a file's numbers
// drive fails the test. The address sanitizer maps its own, and has a limit of its own.
class MemoryLimit {
 public:
  MemoryLimit() {
    ::getrlimit(RLIMIT_AS, &old_);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = old_;
    limit.rlim_cur = pages * 4096 + (size_t{32} << 20);
    if (!UNDER_ASAN) ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &old_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit old_{};
};

// The file with one to three bytes, bits, words of 8 or runs changed where `random` says; most of
// them in what is parsed.
inline std::string damaged(const GgufBuilder& builder, std::mt19937_64& random) {
  static const uint64_t kWords[] = {
      0, 1, 255, 1u << 31, uint64_t{1} << 32, ~uint64_t{0} >> 1, ~uint64_t{0}};
  std::string bytes = builder.bytes();
  const size_t parsed =
      builder.header().size() + builder.metadata().size() + builder.table().size();
  for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
    const size_t at = random() % (random() % 4 ? parsed - 64 : bytes.size());
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.replace(at, 8, raw(kWords[random() % std::size(kWords)]));
        break;
      default:
        bytes.erase(at, 1 + random() % 16);
    }
  }
  return bytes;
}

}  // namespace clvet::test
