#include "runtime/cache/binary_file.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/row_file.h"
#include "base/text.h"

namespace clvet {
namespace {

constexpr std::string_view kMagic("CLVETPB\0", 8);
constexpr size_t kHashDigits = 64;
static_assert(std::endian::native == std::endian::little);

struct Head {
  char magic[8];
  uint32_t version, label_size;
  uint64_t binary_size;
  char hash[kHashDigits];
};
static_assert(sizeof(Head) == 24 + kHashDigits);

std::string hash_of(std::string_view label, std::string_view binary) {
  return Sha256().add_field(label).add_field(binary).hex();
}

std::string text_of(const BinaryLabel& label) {
  const nlohmann::json json = {{"environment_key", label.environment_key},
                               {"program_key", label.program_key},
                               {"device", clean_utf8(label.device)},
                               {"kernel", label.kernel}};
  return json.dump();
}

Result<BinaryLabel> label_of(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::kInvalidArgument, "its label cannot be read");
  BinaryLabel label{.environment_key = row_text(json, "environment_key"),
                    .program_key = row_text(json, "program_key"),
                    .device = clean_utf8(row_text(json, "device")),
                    .kernel = clean_utf8(row_text(json, "kernel"))};
  if (label.environment_key.empty() || label.program_key.empty())
    return fail(ErrorCode::kInvalidArgument, "its label names no program");
  return label;
}

}  // namespace

std::string binary_file_text(const BinaryLabel& label, std::span<const std::byte> binary) {
  const std::string_view bytes(reinterpret_cast<const char*>(binary.data()), binary.size());
  const std::string words = text_of(label);
  Head head{};
  std::memcpy(head.magic, kMagic.data(), kMagic.size());
  head.version = kBinaryFileVersion;
  head.label_size = static_cast<uint32_t>(words.size());
  head.binary_size = bytes.size();
  std::memcpy(head.hash, hash_of(words, bytes).data(), kHashDigits);
  std::string text(reinterpret_cast<const char*>(&head), sizeof head);
  text.reserve(text.size() + words.size() + bytes.size());
  return text.append(words).append(bytes);
}

Result<BinaryFile> parse_binary_file(std::string_view text) {
  const std::string_view magic = text.substr(0, kMagic.size());
  if (text.empty()) return fail(ErrorCode::kInvalidArgument, "it is empty");
  if (magic != kMagic.substr(0, magic.size()))
    return fail(ErrorCode::kInvalidArgument, "it is no program binary of clvet");
  Head head{};
  if (text.size() < sizeof head) return fail(ErrorCode::kInvalidArgument, "it is cut off");
  std::memcpy(&head, text.data(), sizeof head);
  if (head.version != kBinaryFileVersion)
    return fail(ErrorCode::kInvalidArgument, "it has version {}, and this clvet reads version {}",
                head.version, kBinaryFileVersion);
  const std::string_view body = text.substr(sizeof head);
  if (head.label_size > body.size() || head.binary_size > body.size() - head.label_size)
    return fail(ErrorCode::kInvalidArgument, "it is cut off");
  if (head.label_size + head.binary_size != body.size() || head.binary_size == 0)
    return fail(ErrorCode::kInvalidArgument, "its size is not what it says");
  const std::string_view words = body.substr(0, head.label_size);
  BinaryFile file{.binary = body.substr(head.label_size)};
  file.hash = hash_of(words, file.binary);
  if (file.hash != std::string_view(head.hash, kHashDigits))
    return fail(ErrorCode::kInvalidArgument, "its content is not what was saved");
  CLVET_ASSIGN_OR_RETURN(file.label, label_of(words));
  return file;
}

}  // namespace clvet
