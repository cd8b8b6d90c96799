#include "probe/files/linker_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace clvet {
namespace {

// It may follow the table of an older format; offsets count from here.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr size_t kCountAt = 20, kFirstEntry = 48, kEntry = 24, kPathIn = 8, kMostEntries = 65536;

// `at` and four bytes lie within.
uint32_t word(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> paths_in_linker_cache(std::string_view bytes) {
  std::vector<std::string> paths;
  const size_t begin = bytes.find(kMagic);
  if (begin == std::string_view::npos) return paths;
  bytes.remove_prefix(begin);
  if (bytes.size() < kFirstEntry) return paths;
  const size_t room = (bytes.size() - kFirstEntry) / kEntry;
  const size_t count = std::min({size_t{word(bytes, kCountAt)}, room, kMostEntries});
  for (size_t i = 0; i < count; ++i) {
    const size_t at = word(bytes, kFirstEntry + i * kEntry + kPathIn);
    const size_t end = at < bytes.size() ? bytes.find('\0', at) : std::string_view::npos;
    if (end != std::string_view::npos && bytes[at] == '/' && end - at < 4096)
      paths.emplace_back(bytes.substr(at, end - at));
  }
  return paths;
}

}  // namespace clvet
