// Bytes as a GGUF file: its header, its metadata and where its tensors lie.
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/gguf/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)clvet::GgufFile::parse(bytes, "model.gguf");
  return 0;
}
