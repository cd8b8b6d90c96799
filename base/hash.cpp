#include "base/hash.h"

#include <fmt/format.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "base/result.h"

namespace clvet {

struct Sha256::State {
  sha256_ctx context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }
Sha256::~Sha256() = default;

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  sha256_update(&state_->context, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  return *this;
}

Sha256& Sha256::add(std::string_view text) {
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

Sha256& Sha256::add_field(std::string_view text) {
  return add(fmt::format("{}:", text.size())).add(text);
}

std::string Sha256::hex() {
  std::array<uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state_->context, digest.size(), digest.data());
  std::string text;
  for (uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_hex(std::string_view text) { return Sha256().add(text).hex(); }

std::string sealed(std::string text) {
  text += sha256_hex(text);
  return text;
}

std::optional<std::string_view> unsealed(std::string_view text) {
  if (text.size() < kSealSize) return std::nullopt;
  const std::string_view all = text.substr(0, text.size() - kSealSize);
  if (sha256_hex(all) != text.substr(all.size())) return std::nullopt;
  return all;
}

Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::vector<char> piece(size_t{1} << 20);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.add(std::string_view(piece.data(), static_cast<size_t>(file.gcount())));
  }
  if (!file.eof()) return fail(ErrorCode::kNotFound, "cannot read {}", path);
  return hash.hex();
}

Result<std::string> sha256_of_ends(const std::string& path) {
  constexpr std::streamoff kEnd = std::streamoff{1} << 20;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size < 0) return fail(ErrorCode::kNotFound, "cannot read {}", path);
  Sha256 hash;
  hash.add_field(std::to_string(size));
  std::vector<char> piece(static_cast<size_t>(std::min(size, kEnd)));
  for (const std::streamoff from : {std::streamoff{0}, std::max(std::streamoff{0}, size - kEnd)}) {
    file.seekg(from);
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (!file) return fail(ErrorCode::kNotFound, "cannot read {}", path);
    hash.add(std::string_view(piece.data(), piece.size()));
  }
  return hash.hex();
}

}  // namespace clvet
