// A program's binary as one file: what it was made for, how large it is, and a hash of all that.
//
// Layout, little-endian, without gaps:
//   8 bytes   "CLVETPB" and a zero
//   4         version, kBinaryFileVersion
//   4         size of the label in bytes
//   8         size of the binary in bytes
//   64        SHA-256 (hex digits) of the label, then of the binary, each after its length
//   label     {"environment_key", "program_key", "device", "kernel"} as JSON
//   binary
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clvet {

inline constexpr uint32_t kBinaryFileVersion = 1;
// Larger binaries are not kept, and larger files are not read.
inline constexpr size_t kMaxBinaryBytes = size_t{64} << 20;
inline constexpr size_t kMaxBinaryFileBytes = kMaxBinaryBytes + (size_t{64} << 10);

// What a binary is of. A driver takes it back only where both keys are the same.
struct BinaryLabel {
  std::string environment_key;  // of the device's report
  std::string program_key;      // Program::key
  std::string device, kernel;   // names, for people
  bool operator==(const BinaryLabel&) const = default;
};

struct BinaryFile {
  BinaryLabel label;
  std::string_view binary;  // within the text that was parsed
  std::string hash;         // 64 hex digits
};

std::string binary_file_text(const BinaryLabel& label, std::span<const std::byte> binary);
// kInvalidArgument: it is none, or damaged; the message says how, and does not name the file.
Result<BinaryFile> parse_binary_file(std::string_view text);

}  // namespace clvet
