#include "runtime/cache/program_bundle.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace clvet {
namespace {

constexpr std::string_view kMagic("CLVETPS\0", 8);
constexpr size_t kHashDigits = 64;

template <class T>
void put(T value, std::string& text) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes it from the front of `text`; false where that is too short.
template <class T>
bool take(std::string_view& text, T& value) {
  if (text.size() < sizeof value) return false;
  std::memcpy(&value, text.data(), sizeof value);
  text.remove_prefix(sizeof value);
  return true;
}

tl::unexpected<Error> cut_off() {
  return fail(ErrorCode::kInvalidArgument, "it is cut off or damaged");
}

}  // namespace

std::string bundle_of(const std::vector<std::string>& files) {
  std::string text(kMagic);
  put(kBundleVersion, text);
  put(static_cast<uint32_t>(files.size()), text);
  for (const std::string& file : files) {
    put(static_cast<uint64_t>(file.size()), text);
    text += file;
  }
  return text + sha256_hex(text);
}

Result<std::vector<std::string_view>> parse_bundle(std::string_view text) {
  if (!text.starts_with(kMagic))
    return fail(ErrorCode::kInvalidArgument,
                "it holds no programs that 'clvet cache export' wrote");
  if (text.size() < kMagic.size() + kHashDigits) return cut_off();
  const std::string_view all = text.substr(0, text.size() - kHashDigits);
  std::string_view left = all.substr(kMagic.size());
  uint32_t version = 0, count = 0;
  if (!take(left, version)) return cut_off();
  if (version != kBundleVersion)
    return fail(ErrorCode::kInvalidArgument, "it has version {}, and this clvet reads version {}",
                version, kBundleVersion);
  if (sha256_hex(all) != text.substr(all.size()) || !take(left, count)) return cut_off();
  std::vector<std::string_view> files;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    if (!take(left, size) || size > left.size()) return cut_off();
    files.push_back(left.substr(0, size));
    left.remove_prefix(size);
  }
  if (!left.empty()) return cut_off();
  return files;
}

}  // namespace clvet
