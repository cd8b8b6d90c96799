// ONNX's numbers of element types.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/graph/tensor.h"

namespace clvet {

inline std::optional<DType> dtype_of_onnx(int64_t code) {
  struct Row {
    int64_t code;
    DType dtype;
  };
  constexpr Row kRows[] = {
      {1, DType::kF32},  {2, DType::kU8},   {3, DType::kI8},   {4, DType::kU16},
      {5, DType::kI16},  {6, DType::kI32},  {7, DType::kI64},  {9, DType::kBool},
      {10, DType::kF16}, {11, DType::kF64}, {12, DType::kU32}, {13, DType::kU64},
  };
  for (const Row& row : kRows) {
    if (row.code == code) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace clvet
