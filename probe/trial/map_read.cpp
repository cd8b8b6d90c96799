#include "probe/trial/map_read.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"

namespace clvet {
namespace {

constexpr size_t kBytes = 1 << 16;

std::vector<std::byte> pattern() {
  std::vector<std::byte> bytes(kBytes);
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

}  // namespace

Result<MapReadCheck> MapReadCheck::create() {
  MapReadCheck check;
  CLVET_ASSIGN_OR_RETURN(check.written_, make_sealed_memfd("clvet-written", pattern()));
  CLVET_ASSIGN_OR_RETURN(check.seen_, make_memfd("clvet-seen", kBytes));
  return check;
}

nlohmann::json MapReadCheck::request() const { return {{"do", "map_read"}, {"bytes", kBytes}}; }

bool MapReadCheck::shows_what_was_written() const {
  const auto seen = Mapping::of(seen_.get(), kBytes, false);
  return seen && std::ranges::equal(seen->bytes(), pattern());
}

}  // namespace clvet
