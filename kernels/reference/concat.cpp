#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_concat {
namespace {

// y {N, H, W, C} is x1, x2, x3 and x4 one after the other along `axis` (0 n, 1 h, 2 w, 3 c), of
// extents P1..P4 there. P3 and P4 may be 0: that input is then not read, and has x1's extents.
constexpr std::array kParts = {"P1", "P2", "P3", "P4"};
constexpr std::array kNames = {"x1", "x2", "x3", "x4"};

int64_t& extent_of(TensorRole& role, int64_t axis) {
  const std::array extents = {&role.n, &role.h, &role.w, &role.c};
  return *extents[static_cast<size_t>(axis)];
}

TensorRole input_of(const Dims& dims, size_t i) {
  TensorRole x = role_of(dims, kNames[i], TensorKind::kInput);
  const int64_t part = dim_or(dims, kParts[i], 0);
  extent_of(x, dim(dims, "axis")) = part > 0 ? part : dim(dims, "P1");
  return x;
}

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array needed = {"N", "H", "W", "C", "P1", "P2"};
  CLVET_RETURN_IF_ERROR(need_positive("concat", dims, needed));
  const int64_t axis = dim_or(dims, "axis", -1);
  if (axis < 0 || axis > 3) {
    return fail(ErrorCode::kInvalidArgument, "concat: axis = {} is not in the range 0 to 3", axis);
  }
  std::vector<TensorRole> roles;
  int64_t sum = 0;
  for (size_t i = 0; i < kParts.size(); ++i) {
    const int64_t part = dim_or(dims, kParts[i], 0);
    if (part < 0)
      return fail(ErrorCode::kInvalidArgument, "concat: {} = {} is negative", kParts[i], part);
    roles.push_back(input_of(dims, i));
    sum += part;
  }
  TensorRole y = role_of(dims, "y", TensorKind::kOutput);
  if (const int64_t extent = extent_of(y, axis); sum != extent) {
    return fail(ErrorCode::kInvalidArgument,
                "concat: the parts have {} together, but the output has {}", sum, extent);
  }
  roles.push_back(std::move(y));
  return roles;
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const auto axis = static_cast<size_t>(dim(d, "axis"));
  const std::array<int64_t, 4> extents = {dim(d, "N"), dim(d, "H"), dim(d, "W"), dim(d, "C")};
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i < axis) outer *= extents[i];
    if (i > axis) inner *= extents[i];
  }
  ReferenceResult result;
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < kParts.size(); ++i) {
      const int64_t count = dim_or(d, kParts[i], 0) * inner;
      const double* from = values.tensors.find(kNames[i])->second.data() + o * count;
      result.value.insert(result.value.end(), from, from + count);
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"concat", roles, reference};

}  // namespace clvet::op_contract_concat
