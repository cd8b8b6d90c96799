// NumPy's .npy files and raw files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// Versions 1 to 3, little-endian, C order. Each fault is one line with the file, what is wrong and
// how to save it right.
Result<Tensor> read_npy(const std::string& path);
Result<Tensor> parse_npy(std::string_view bytes, const std::string& name);
// Version 1, written as a whole or not at all. f16 is stored as '<f2',
// bf16 as the same numbers of '<f4': NumPy has no such type.
Status write_npy(const std::string& path, const Tensor& tensor);
std::string format_npy(const Tensor& tensor);

// The bytes of a tensor and nothing else; the size must be exactly the type's.
Result<Tensor> read_raw(const std::string& path, const TensorType& type);

}  // namespace clvet
