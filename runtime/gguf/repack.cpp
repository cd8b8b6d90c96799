#include "runtime/gguf/repack.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/gguf/block_type.h"

namespace clvet {

WeightType weight_type_of(const BlockType& type) {
  if (!type.quantised()) return WeightType::kFloat;
  return type.bits == 4 ? WeightType::kInt4 : WeightType::kInt8;
}

Result<BlockWeights> repack(const BlockType& type, std::span<const std::byte> bytes, int64_t rows,
                            int64_t columns) {
  if (!type.quantised()) {
    return fail(ErrorCode::kUnsupported, "the type {} has no quantised blocks", type.name);
  }
  int64_t blocks = 0, needed = 0;
  const bool fits = rows > 0 && columns > 0 && columns % type.elements == 0 &&
                    !__builtin_mul_overflow(rows, columns / type.elements, &blocks) &&
                    !__builtin_mul_overflow(blocks, type.bytes, &needed) &&
                    static_cast<uint64_t>(needed) == bytes.size();
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument, "{} bytes of {} do not make {} rows of {}",
                bytes.size(), type.name, rows, columns);
  }
  BlockWeights weights{rows, columns, weight_type_of(type), type.group, {}, {}, {}};
  const int64_t groups = type.elements / type.group;
  weights.quants.resize(static_cast<size_t>(blocks * type.elements));
  weights.scales.resize(static_cast<size_t>(blocks * groups));
  weights.minimums.resize(weights.scales.size());
  for (int64_t i = 0; i < blocks; ++i) {
    type.unpack(bytes.data() + i * type.bytes, weights.quants.data() + i * type.elements,
                weights.scales.data() + i * groups, weights.minimums.data() + i * groups);
  }
  return weights;
}

}  // namespace clvet
