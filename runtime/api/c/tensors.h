// Tensors as C programs name them.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/tensor.h"

namespace clvet::v1::c {

// Points into `info`.
clvet_tensor_info info_of(const TensorInfo& info);
Result<DataType> type_of(clvet_data_type type);
// Of `info`, which has a name.
Result<Shape> shape_of(const clvet_tensor_info& info);
// Those of `infos`, by name; each name stands there once.
Result<std::map<std::string, Shape>> shapes_of(const clvet_tensor_info* infos, size_t count);

}  // namespace clvet::v1::c
