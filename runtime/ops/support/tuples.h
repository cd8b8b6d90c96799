// Places in a tensor that GatherND and ScatterND name by tuples of indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/tensor.h"

namespace clvet {

// The offset in elements that `tuple` names in the leading axes of `shape`; -1 where an index is
// outside. Negative indices count from the end.
inline int64_t tuple_offset(std::span<const int64_t> tuple, const Shape& shape,
                            const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < tuple.size(); ++i) {
    const int64_t index = tuple[i] < 0 ? tuple[i] + shape[i] : tuple[i];
    if (index < 0 || index >= shape[i]) return -1;
    offset += index * strides[i];
  }
  return offset;
}

}  // namespace clvet
