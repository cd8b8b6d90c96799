#include "tests/runtime/gguf/damage.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/runtime/gguf/gguf_builder.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
// GCC 12 has the function and not its header.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           size_t),
                                                         void (*on_free)(const volatile void*));
#else
#define UNDER_ASAN 0
#endif

namespace clvet::test {
namespace {

std::atomic<size_t>& largest() {
  static std::atomic<size_t> bytes = 0;
  return bytes;
}

}  // namespace

MemoryLimit::MemoryLimit() {
  ::getrlimit(RLIMIT_DATA, &old_);
  size_t pages = 0;  // the sixth number: data and stack
  std::ifstream file("/proc/self/statm");
  for (int i = 0; i < 6; ++i) file >> pages;
  rlimit limit = old_;
  limit.rlim_cur = pages * 4096 + kMostMemory;
  if (!UNDER_ASAN) ::setrlimit(RLIMIT_DATA, &limit);
  largest() = 0;
#if UNDER_ASAN
  static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t size) {
        size_t seen = largest();
        while (size > seen && !largest().compare_exchange_weak(seen, size)) {
        }
      },
      [](const volatile void*) {});
  EXPECT_GT(installed, 0);
#endif
}

MemoryLimit::~MemoryLimit() {
  ::setrlimit(RLIMIT_DATA, &old_);
  EXPECT_LE(largest(), kMostMemory);
}

std::string damaged(const GgufBuilder& builder, std::mt19937_64& random) {
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
