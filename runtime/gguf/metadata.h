// The key-value part of a GGUF file, and typed access to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace clvet {

// Numbers as files have them.
enum class GgufKind : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// "u8", "string"; "?" for a number that is no kind.
const char* to_string(GgufKind kind);
// Bytes of one value; 0 for strings, arrays and what is no kind.
size_t size_of(GgufKind kind);

// Text and numbers lie in the file: valid as long as its bytes are.
struct GgufArray {
  GgufKind element = GgufKind::kU8;
  size_t count = 0;
  std::span<const std::byte> numbers;  // of numbers and booleans, unaligned
  std::vector<std::string_view> strings;
  std::vector<GgufArray> arrays;
};

struct GgufValue {
  GgufKind kind = GgufKind::kU8;
  // Unsigned integers of all widths, signed ones, floats of both.
  std::variant<bool, uint64_t, int64_t, double, std::string_view, GgufArray> value;
};

// "u32", "array of string".
std::string describe(const GgufValue& value);
// One number or boolean of `kind`, from size_of(kind) bytes; bytes other than 0 are true.
GgufValue decode_number(GgufKind kind, const std::byte* at);

// Getters fail with kInvalidArgument and a message that names the file, the key, what was wanted
// and what is there. An integer may be stored in any width and sign.
class GgufMetadata {
 public:
  explicit GgufMetadata(std::string file = {}) : file_(std::move(file)) {}
  // False where the key is there already. The key's text is not copied.
  bool add(std::string_view key, GgufValue value);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  const GgufValue* find(std::string_view key) const;
  const std::map<std::string_view, GgufValue>& all() const { return values_; }

  Result<int64_t> integer(std::string_view key, int64_t least, int64_t most) const;
  Result<double> number(std::string_view key) const;  // finite
  Result<bool> boolean(std::string_view key) const;
  Result<std::string_view> string(std::string_view key) const;
  Result<std::span<const std::string_view>> strings(std::string_view key) const;
  Result<std::vector<int64_t>> integers(std::string_view key) const;
  Result<std::vector<double>> numbers(std::string_view key) const;

  // The same with a value for an absent key.
  Result<int64_t> integer_or(std::string_view key, int64_t fallback, int64_t least,
                             int64_t most) const;
  Result<double> number_or(std::string_view key, double fallback) const;
  Result<bool> boolean_or(std::string_view key, bool fallback) const;
  Result<std::string_view> string_or(std::string_view key, std::string_view fallback) const;

 private:
  Result<const GgufValue*> need(std::string_view key) const;
  Result<const GgufArray*> need_array(std::string_view key, const char* of) const;
  tl::unexpected<Error> wrong(std::string_view key, const char* wanted,
                              const GgufValue& value) const;

  std::string file_;
  std::map<std::string_view, GgufValue> values_;
};

}  // namespace clvet
