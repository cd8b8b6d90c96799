#include "kernels/combination.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace clvet {
namespace {

template <class Enum, size_t N>
using Words = std::array<std::pair<Enum, const char*>, N>;

constexpr Words<Precision, 3> kPrecisions{
    {{Precision::kLow, "low"}, {Precision::kNormal, "normal"}, {Precision::kHigh, "high"}}};
constexpr Words<Memory, 2> kMemories{{{Memory::kLow, "low"}, {Memory::kNormal, "normal"}}};
constexpr Words<Storage, 2> kStorages{{{Storage::kBuffer, "buffer"}, {Storage::kImage, "image"}}};
constexpr Words<WeightType, 4> kWeightTypes{{{WeightType::kFloat, "float"},
                                             {WeightType::kInt8, "int8"},
                                             {WeightType::kInt4, "int4"},
                                             {WeightType::kQ4_0, "q4_0"}}};

template <class Enum, size_t N>
const char* word_of(const Words<Enum, N>& words, Enum value) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  return "?";
}

template <class Enum, size_t N>
std::optional<Enum> value_of(const Words<Enum, N>& words, std::string_view word) {
  for (const auto& [value, known] : words) {
    if (word == known) return value;
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(Precision value) { return word_of(kPrecisions, value); }
const char* to_string(Memory value) { return word_of(kMemories, value); }
const char* to_string(Storage value) { return word_of(kStorages, value); }
const char* to_string(WeightType value) { return word_of(kWeightTypes, value); }

std::string to_string(const Combination& value) {
  return std::string(to_string(value.precision)) + "/" +
         (value.memory ? to_string(*value.memory) : "-") + "/" + to_string(value.activations) +
         "/" + (value.weights ? to_string(*value.weights) : "-");
}

std::optional<Precision> parse_precision(std::string_view word) {
  return value_of(kPrecisions, word);
}
std::optional<Memory> parse_memory(std::string_view word) { return value_of(kMemories, word); }
std::optional<Storage> parse_storage(std::string_view word) { return value_of(kStorages, word); }
std::optional<WeightType> parse_weight_type(std::string_view word) {
  return value_of(kWeightTypes, word);
}

}  // namespace clvet
