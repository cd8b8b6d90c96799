// The words of a combination: precision x memory x storage of activations x storage of weights.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace clvet {

// low = half storage, half arithmetic; normal = half storage, float arithmetic (core OpenCL, works
// without cl_khr_fp16); high = float throughout.
enum class Precision { kLow, kNormal, kHigh };
// low = weights stay in int4/int8 blocks and are dequantised in the kernel; normal = weights are
// float or half when the kernel sees them.
enum class Memory { kLow, kNormal };
enum class Storage { kBuffer, kImage };
// How a kernel variant reads its weights. kFloat means the storage type of its precision; kInt8 and
// kInt4 are numbers of 8 and 4 bits in blocks with a scale and an offset; kQ4_0 is int4 in the
// blocks of GGUF's Q4_0, which have a half as scale and no offset of their own.
enum class WeightType { kFloat, kInt8, kInt4, kQ4_0 };

struct Combination {
  Precision precision = Precision::kHigh;
  std::optional<Memory> memory;  // empty for an op without weights
  Storage activations = Storage::kBuffer;
  std::optional<Storage> weights;  // empty for an op without weights
  auto operator<=>(const Combination&) const = default;
};

const char* to_string(Precision value);
const char* to_string(Memory value);
const char* to_string(Storage value);
const char* to_string(WeightType value);
// "high/normal/buffer/image"; an empty part is written "-".
std::string to_string(const Combination& value);

// The inverse of to_string; nullopt for any other word.
std::optional<Precision> parse_precision(std::string_view word);
std::optional<Memory> parse_memory(std::string_view word);
std::optional<Storage> parse_storage(std::string_view word);
std::optional<WeightType> parse_weight_type(std::string_view word);

// True where activations are stored as half (low and normal).
inline bool stores_half(Precision precision) { return precision != Precision::kHigh; }

}  // namespace clvet
