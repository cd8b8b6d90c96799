// Bytes as a saved plan.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/plan/plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)clvet::plan_from_json(std::string(bytes), "plan.json");
  return 0;
}
