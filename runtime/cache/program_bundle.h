// Saved programs of a machine in one file, for machines of the same environment.
//
// Layout, little-endian, without gaps: 8 bytes "CLVETPS" and a zero; 4 version; 4 number of
// programs; of each, 8 bytes of its size and the file (binary_file.h); 64 hex digits, the SHA-256
// of all before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {

inline constexpr uint32_t kBundleVersion = 1;
inline constexpr size_t kMaxBundleBytes = size_t{2} << 30;

std::string bundle_of(const std::vector<std::string>& files);
// The files, within `text`; none of them was looked at. kInvalidArgument: it is damaged, or none.
Result<std::vector<std::string_view>> parse_bundle(std::string_view text);

}  // namespace clvet
