#include "runtime/cache/program_bundle.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/packed.h"
#include "base/result.h"

namespace clvet {
namespace {

constexpr std::string_view kMagic("CLVETPS\0", 8);

tl::unexpected<Error> cut_off() {
  return fail(ErrorCode::kInvalidArgument, "it is cut off or damaged");
}

}  // namespace

std::string bundle_of(const std::vector<std::string>& files) {
  std::string text(kMagic);
  put_packed(kBundleVersion, text);
  put_packed(static_cast<uint32_t>(files.size()), text);
  for (const std::string& file : files) {
    put_packed(static_cast<uint64_t>(file.size()), text);
    text += file;
  }
  return sealed(std::move(text));
}

Result<std::vector<std::string_view>> parse_bundle(std::string_view text) {
  if (!text.starts_with(kMagic))
    return fail(ErrorCode::kInvalidArgument,
                "it holds no programs that 'clvet cache export' wrote");
  if (text.size() < kMagic.size() + kSealSize) return cut_off();
  std::string_view left = text.substr(kMagic.size(), text.size() - kMagic.size() - kSealSize);
  uint32_t version = 0, count = 0;
  if (!take_packed(left, version)) return cut_off();
  if (version != kBundleVersion)
    return fail(ErrorCode::kInvalidArgument, "it has version {}, and this clvet reads version {}",
                version, kBundleVersion);
  if (!unsealed(text) || !take_packed(left, count)) return cut_off();
  std::vector<std::string_view> files;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    if (!take_packed(left, size) || size > left.size()) return cut_off();
    files.push_back(left.substr(0, size));
    left.remove_prefix(size);
  }
  if (!left.empty()) return cut_off();
  return files;
}

}  // namespace clvet
