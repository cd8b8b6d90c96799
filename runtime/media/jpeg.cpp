#include "runtime/media/jpeg.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clvet {
namespace {

constexpr uint8_t kStuffed = 0, kTables = 0xC4, kFirstRestart = 0xD0, kStart = 0xD8, kEnd = 0xD9;
constexpr size_t kSizes = 16, kMostCodes = 255;

// Markers as stb_image meets them: those of entropy-coded data follow the segment of their scan, as
// all others follow theirs.
class Segments {
 public:
  explicit Segments(std::string_view bytes) : bytes_(bytes) {}

  // The next marker that a segment follows; false: the end of the picture or of the file.
  bool next(uint8_t& marker) {
    at_ += length_;
    while (at_ < bytes_.size()) {
      if (byte(at_++) != 0xFF) continue;
      while (byte(at_) == 0xFF) ++at_;
      marker = byte(at_++);
      if (marker == kEnd) return false;
      if (marker == kStuffed || (marker >= kFirstRestart && marker <= kStart)) continue;
      length_ = size_t{byte(at_)} << 8 | byte(at_ + 1);
      return true;
    }
    return false;
  }

  // Of the segment, its length left out; as the decoder sees it, zeros beyond the file's end.
  size_t size() const { return length_ < 2 ? 0 : length_ - 2; }
  uint8_t operator[](size_t i) const { return byte(at_ + 2 + i); }

 private:
  uint8_t byte(size_t i) const {
    return i < bytes_.size() ? static_cast<uint8_t>(bytes_[i]) : uint8_t{0};
  }

  std::string_view bytes_;
  size_t at_ = 0, length_ = 0;
};

// A class and number, 16 sizes, and as many codes as these add up to, again and again.
bool tables_fit(const Segments& segment) {
  for (size_t at = 0; at < segment.size();) {
    size_t codes = 0;
    for (size_t i = 1; i <= kSizes; ++i) codes += segment[at + i];
    if (codes > kMostCodes) return false;
    at += 1 + kSizes + codes;
  }
  return true;
}

}  // namespace

const char* jpeg_fault(std::string_view bytes) {
  if (!bytes.starts_with('\xFF')) return nullptr;
  Segments segments(bytes);
  for (uint8_t marker = 0; segments.next(marker);) {
    if (marker == kTables && !tables_fit(segments)) return "a Huffman table of more than 255 codes";
  }
  return nullptr;
}

}  // namespace clvet
