// Bytes as a sound file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/media/wav.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)clvet::parse_wav(bytes, "x.wav");
  return 0;
}
