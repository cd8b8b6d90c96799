// Activations whose extents are four dims of a call.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet {

using Extents = std::array<const char*, 4>;  // names of the dims for n, h, w, c
inline constexpr Extents kExtents = {"N", "H", "W", "C"};
inline constexpr Extents kOutExtents = {"ON", "OH", "OW", "OC"};

// The dims must be there (need_positive).
inline TensorRole role_of(const Dims& dims, std::string name, TensorKind kind,
                          const Extents& extents = kExtents) {
  return {.name = std::move(name),
          .kind = kind,
          .n = dim(dims, extents[0]),
          .h = dim(dims, extents[1]),
          .w = dim(dims, extents[2]),
          .c = dim(dims, extents[3])};
}

// Of an op that reads "x" and writes a "y" of the same extents, N x H x W x C.
inline Result<std::vector<TensorRole>> roles_of_a_map(std::string_view op, const Dims& dims) {
  CLVET_RETURN_IF_ERROR(need_positive(op, dims, kExtents));
  return std::vector<TensorRole>{role_of(dims, "x", TensorKind::kInput),
                                 role_of(dims, "y", TensorKind::kOutput)};
}

// y = x.
inline ReferenceResult reference_of_a_copy(const CallValues& values) {
  ReferenceResult result;
  result.value = values.tensors.find("x")->second;
  return result;
}

}  // namespace clvet
