// SHA-256, the only hash of clvet: variant keys, environment keys, file identities.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clvet {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text);
  // Adds the length first, so that fields cannot run into each other.
  Sha256& add_field(std::string_view text);
  // 64 lower-case hex digits; the object may not be used afterwards.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view text);
// `text` and behind it its sha256_hex(), of kSealSize bytes.
inline constexpr size_t kSealSize = 64;
std::string sealed(std::string text);
// What sealed() was given; nullopt: `text` is cut off or damaged.
std::optional<std::string_view> unsealed(std::string_view text);
// Of a file of any size, read piece by piece. kNotFound: it cannot be read.
Result<std::string> sha256_of_file(const std::string& path);
// Of its size, its first and its last MiB: enough to tell one large model from another at once.
Result<std::string> sha256_of_ends(const std::string& path);

}  // namespace clvet
