// ONNX's numbers of element types.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/graph/tensor.h"

namespace clvet {

inline std::optional<DType> dtype_of_onnx(int64_t code) {
  switch (code) {
    case 1:
      return DType::kF32;
    case 2:
      return DType::kU8;
    case 3:
      return DType::kI8;
    case 4:
      return DType::kU16;
    case 5:
      return DType::kI16;
    case 6:
      return DType::kI32;
    case 7:
      return DType::kI64;
    case 9:
      return DType::kBool;
    case 10:
      return DType::kF16;
    case 11:
      return DType::kF64;
    case 12:
      return DType::kU32;
    case 13:
      return DType::kU64;
    default:
      return std::nullopt;
  }
}

}  // namespace clvet
