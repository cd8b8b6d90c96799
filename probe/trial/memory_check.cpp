#include "probe/trial/memory_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "probe/report/report.h"
#include "probe/trial/canary.h"

namespace clvet {
namespace {

constexpr size_t kCount = 1 << 14;
constexpr size_t kBytes = kCount * sizeof(int32_t);

// No page looks like another.
std::vector<int32_t> pattern() {
  std::vector<int32_t> values(kCount);
  for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<int32_t>(i * 7 + i / 251);
  return values;
}

}  // namespace

Result<MemoryCheck> MemoryCheck::create(std::string kind, size_t launches) {
  MemoryCheck check;
  check.kind_ = std::move(kind);
  check.launches_ = launches;
  const std::vector<int32_t> values = pattern();
  CLVET_ASSIGN_OR_RETURN(check.written_,
                         make_sealed_memfd("clvet-written", std::as_bytes(std::span(values))));
  CLVET_ASSIGN_OR_RETURN(check.seen_, make_memfd("clvet-seen", kBytes * (launches + 1)));
  return check;
}

nlohmann::json MemoryCheck::request() const {
  return {{"do", "shared_memory"}, {"memory", kind_}, {"bytes", kBytes}, {"launches", launches_}};
}

std::string MemoryCheck::fault() const {
  const auto seen = Mapping::of(seen_.get(), kBytes * (launches_ + 1), false);
  if (!seen) return seen.error().message;
  std::vector<int32_t> expected = pattern();
  for (size_t i = 0; i <= launches_; ++i) {
    if (std::memcmp(seen->bytes().data() + i * kBytes, expected.data(), kBytes) != 0)
      return i == 0 ? "a mapped read differs from what was written"
                    : "a mapped read differs from what a kernel wrote";
    for (int32_t& value : expected) value = canary_result(value);
  }
  return {};
}

std::vector<std::string> memory_checks_of(const DeviceReport& device) {
  std::vector<std::string> kinds = {"map_read", "host_pointer"};
  const auto svm = device.properties.find("CL_DEVICE_SVM_CAPABILITIES");
  constexpr unsigned long long kCoarseBuffer = 1;  // CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
  if (svm != device.properties.end() &&
      (std::strtoull(svm->second.value.c_str(), nullptr, 0) & kCoarseBuffer) != 0)
    kinds.emplace_back("svm");
  if (std::ranges::count(device.extensions, "cl_arm_import_memory") > 0)
    kinds.emplace_back("arm_import");
  return kinds;
}

}  // namespace clvet
