// Bytes as a compatibility report.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "probe/report/report_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)clvet::report_from_json(std::string(bytes), "report.json");
  return 0;
}
