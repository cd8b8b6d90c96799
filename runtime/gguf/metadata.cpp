#include "runtime/gguf/metadata.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"

namespace clvet {
namespace {

struct KindRow {
  const char* name;
  size_t size;
};
constexpr KindRow kKinds[] = {{"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
                              {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 0}, {"array", 0},
                              {"u64", 8}, {"i64", 8}, {"f64", 8}};

std::optional<int64_t> as_integer(const GgufValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value.value)) return *number;
  const auto* number = std::get_if<uint64_t>(&value.value);
  if (!number || *number > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<double> as_number(const GgufValue& value) {
  if (const auto* number = std::get_if<double>(&value.value)) return *number;
  const auto integer = as_integer(value);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

}  // namespace

const char* to_string(GgufKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < std::size(kKinds) ? kKinds[index].name : "?";
}

size_t size_of(GgufKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < std::size(kKinds) ? kKinds[index].size : 0;
}

std::string describe(const GgufValue& value) {
  const auto* array = std::get_if<GgufArray>(&value.value);
  if (!array) return to_string(value.kind);
  return fmt::format("array of {}", to_string(array->element));
}

GgufValue decode_number(GgufKind kind, const std::byte* at) {
  switch (kind) {
    case GgufKind::kU8:
      return {kind, uint64_t{load<uint8_t>(at)}};
    case GgufKind::kI8:
      return {kind, int64_t{load<int8_t>(at)}};
    case GgufKind::kU16:
      return {kind, uint64_t{load<uint16_t>(at)}};
    case GgufKind::kI16:
      return {kind, int64_t{load<int16_t>(at)}};
    case GgufKind::kU32:
      return {kind, uint64_t{load<uint32_t>(at)}};
    case GgufKind::kI32:
      return {kind, int64_t{load<int32_t>(at)}};
    case GgufKind::kF32:
      return {kind, static_cast<double>(load<float>(at))};
    case GgufKind::kU64:
      return {kind, load<uint64_t>(at)};
    case GgufKind::kI64:
      return {kind, load<int64_t>(at)};
    case GgufKind::kF64:
      return {kind, load<double>(at)};
    default:
      return {GgufKind::kBool, load<uint8_t>(at) != 0};
  }
}

bool GgufMetadata::add(std::string_view key, GgufValue value) {
  return values_.emplace(key, std::move(value)).second;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

Result<const GgufValue*> GgufMetadata::need(std::string_view key) const {
  if (const GgufValue* value = find(key)) return value;
  return fail(ErrorCode::kInvalidArgument,
              "{}: metadata key '{}' is missing; convert the model again with a current converter",
              file_, key);
}

tl::unexpected<Error> GgufMetadata::wrong(std::string_view key, const char* wanted,
                                          const GgufValue& value) const {
  return fail(ErrorCode::kInvalidArgument,
              "{}: metadata key '{}' should be {}, but is {}; convert the model again", file_, key,
              wanted, describe(value));
}

Result<int64_t> GgufMetadata::integer(std::string_view key, int64_t least, int64_t most) const {
  CLVET_ASSIGN_OR_RETURN(const GgufValue* value, need(key));
  const auto number = as_integer(*value);
  if (!number) return wrong(key, "an integer", *value);
  if (*number < least || *number > most) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: metadata key '{}' is {}, but must be from {} to {}; convert the model again",
                file_, key, *number, least, most);
  }
  return *number;
}

Result<double> GgufMetadata::number(std::string_view key) const {
  CLVET_ASSIGN_OR_RETURN(const GgufValue* value, need(key));
  const auto number = as_number(*value);
  if (!number || !std::isfinite(*number)) return wrong(key, "a finite number", *value);
  return *number;
}

Result<bool> GgufMetadata::boolean(std::string_view key) const {
  CLVET_ASSIGN_OR_RETURN(const GgufValue* value, need(key));
  const auto* flag = std::get_if<bool>(&value->value);
  if (!flag) return wrong(key, "a boolean", *value);
  return *flag;
}

Result<std::string_view> GgufMetadata::string(std::string_view key) const {
  CLVET_ASSIGN_OR_RETURN(const GgufValue* value, need(key));
  const auto* text = std::get_if<std::string_view>(&value->value);
  if (!text) return wrong(key, "a string", *value);
  return *text;
}

Result<const GgufArray*> GgufMetadata::need_array(std::string_view key, const char* of) const {
  CLVET_ASSIGN_OR_RETURN(const GgufValue* value, need(key));
  const auto* array = std::get_if<GgufArray>(&value->value);
  if (!array) return wrong(key, of, *value);
  return array;
}

Result<std::span<const std::string_view>> GgufMetadata::strings(std::string_view key) const {
  constexpr const char* kWanted = "an array of strings";
  CLVET_ASSIGN_OR_RETURN(const GgufArray* array, need_array(key, kWanted));
  if (array->element != GgufKind::kString) return wrong(key, kWanted, *find(key));
  return std::span<const std::string_view>(array->strings);
}

Result<std::vector<int64_t>> GgufMetadata::integers(std::string_view key) const {
  constexpr const char* kWanted = "an array of integers";
  CLVET_ASSIGN_OR_RETURN(const GgufArray* array, need_array(key, kWanted));
  std::vector<int64_t> numbers;
  const size_t size = size_of(array->element);
  for (size_t i = 0; i < array->count; ++i) {
    const auto number =
        size ? as_integer(decode_number(array->element, array->numbers.data() + i * size))
             : std::nullopt;
    if (!number) return wrong(key, kWanted, *find(key));
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<double>> GgufMetadata::numbers(std::string_view key) const {
  constexpr const char* kWanted = "an array of finite numbers";
  CLVET_ASSIGN_OR_RETURN(const GgufArray* array, need_array(key, kWanted));
  std::vector<double> numbers;
  const size_t size = size_of(array->element);
  for (size_t i = 0; i < array->count; ++i) {
    const auto number =
        size ? as_number(decode_number(array->element, array->numbers.data() + i * size))
             : std::nullopt;
    if (!number || !std::isfinite(*number)) return wrong(key, kWanted, *find(key));
    numbers.push_back(*number);
  }
  return numbers;
}

Result<int64_t> GgufMetadata::integer_or(std::string_view key, int64_t fallback, int64_t least,
                                         int64_t most) const {
  return has(key) ? integer(key, least, most) : fallback;
}

Result<double> GgufMetadata::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

Result<bool> GgufMetadata::boolean_or(std::string_view key, bool fallback) const {
  return has(key) ? boolean(key) : fallback;
}

Result<std::string_view> GgufMetadata::string_or(std::string_view key,
                                                 std::string_view fallback) const {
  return has(key) ? string(key) : fallback;
}

}  // namespace clvet
