// Bounded reading of an ELF file's bytes: nothing beyond its end is ever touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace clvet::elf {

using Bytes = std::span<const std::byte>;

template <class T>
std::optional<T> read_at(Bytes file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

inline std::optional<Bytes> slice(Bytes file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return std::nullopt;
  return file.subspan(offset, size);
}

// The text that ends at the first NUL; empty where there is none within `bytes`, or none soon.
inline std::string_view text_at(Bytes bytes, uint64_t offset) {
  constexpr size_t kLongest = 4096;
  if (offset >= bytes.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  const void* end = std::memchr(begin, 0, std::min<size_t>(bytes.size() - offset, kLongest));
  return end ? std::string_view(begin, static_cast<const char*>(end)) : std::string_view();
}

}  // namespace clvet::elf
