// ONNX's numbers of element types.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/graph/tensor.h"

namespace clvet {

struct OnnxType {
  int64_t code;
  DType dtype;
};
inline constexpr OnnxType kOnnxTypes[] = {
    {1, DType::kF32},  {2, DType::kU8},   {3, DType::kI8},    {4, DType::kU16},  {5, DType::kI16},
    {6, DType::kI32},  {7, DType::kI64},  {9, DType::kBool},  {10, DType::kF16}, {11, DType::kF64},
    {12, DType::kU32}, {13, DType::kU64}, {16, DType::kBF16},
};

inline std::optional<DType> dtype_of_onnx(int64_t code) {
  for (const OnnxType& row : kOnnxTypes) {
    if (row.code == code) return row.dtype;
  }
  return std::nullopt;
}

inline int64_t onnx_of_dtype(DType dtype) {
  for (const OnnxType& row : kOnnxTypes) {
    if (row.dtype == dtype) return row.code;
  }
  return 0;  // ONNX's "undefined"; each DType has a row
}

}  // namespace clvet
