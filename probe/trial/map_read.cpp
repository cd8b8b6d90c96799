#include "probe/trial/map_read.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
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

Result<MapReadCheck> MapReadCheck::create(size_t launches) {
  MapReadCheck check;
  check.launches_ = launches;
  const std::vector<int32_t> values = pattern();
  CLVET_ASSIGN_OR_RETURN(check.written_,
                         make_sealed_memfd("clvet-written", std::as_bytes(std::span(values))));
  CLVET_ASSIGN_OR_RETURN(check.seen_, make_memfd("clvet-seen", kBytes * (launches + 1)));
  return check;
}

nlohmann::json MapReadCheck::request() const {
  return {{"do", "map_read"}, {"bytes", kBytes}, {"launches", launches_}};
}

std::string MapReadCheck::fault() const {
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

}  // namespace clvet
