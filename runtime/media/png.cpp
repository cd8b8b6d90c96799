#include "runtime/media/png.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clvet {
namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
constexpr size_t kAround = 12;  // of a chunk: its length and its type before it, its sum behind it

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

}  // namespace

const char* png_fault(std::string_view bytes) {
  if (!bytes.starts_with(kSignature)) return nullptr;
  bytes.remove_prefix(kSignature.size());
  while (bytes.size() >= kAround) {
    const size_t length = big_endian(bytes.substr(0, 4));
    if (length > bytes.size() - kAround) return "a chunk is longer than the file";
    if (bytes.substr(4, 4) == "IEND") break;
    bytes.remove_prefix(kAround + length);
  }
  return nullptr;
}

}  // namespace clvet
