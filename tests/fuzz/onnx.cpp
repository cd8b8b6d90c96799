// Bytes as an ONNX file; a graph that is read is optimised, too.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/graph/passes.h"
#include "runtime/onnx/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto graph = clvet::parse_onnx(bytes, "model.onnx");
  if (graph) (void)clvet::optimise(*graph);
  return 0;
}
