#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_pad {
namespace {

enum Mode { kConstant, kEdge, kReflect, kWrap };

constexpr std::array kBefore = {"P_N", "P_H", "P_W", "P_C"};

// y {ON, OH, OW, OC}: along each axis output o is input o - P, where P may be negative (a cut).
// Outside of the input, mode 0: the scalar `value`; 1: its nearest element; 2: its mirror image,
// the border not repeated; 3: its periodic continuation.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(need_positive("pad", dims, kExtents));
  CLVET_RETURN_IF_ERROR(need_positive("pad", dims, kOutExtents));
  for (const char* name : kBefore) {
    if (!dims.contains(name)) {
      return fail(ErrorCode::kInvalidArgument, "pad: dim '{}' is missing", name);
    }
  }
  if (const int64_t mode = dim_or(dims, "mode", -1); mode < kConstant || mode > kWrap) {
    return fail(ErrorCode::kInvalidArgument, "pad: mode = {} is not in the range 0 to 3", mode);
  }
  return std::vector<TensorRole>{role_of(dims, "x", TensorKind::kInput),
                                 role_of(dims, "y", TensorKind::kOutput, kOutExtents)};
}

// The input index along an axis of n elements, -1 for the constant.
int64_t source(int64_t mode, int64_t at, int64_t n) {
  if (at >= 0 && at < n) return at;
  switch (mode) {
    case kConstant:
      return -1;
    case kEdge:
      return std::clamp<int64_t>(at, 0, n - 1);
    case kWrap:
      return (at % n + n) % n;
    default: {
      if (n == 1) return 0;
      const int64_t period = 2 * (n - 1);
      const int64_t folded = (at % period + period) % period;
      return std::min(folded, period - folded);
    }
  }
}

struct Axis {
  int64_t out, before, in;
};

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const int64_t mode = dim(d, "mode");
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  std::array<Axis, 4> axes{};
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = {dim(d, kOutExtents[i]), dim(d, kBefore[i]), dim(d, kExtents[i])};
    count *= axes[i].out;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0, stride = 1;
    bool inside = true;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      const int64_t from = source(mode, rest % axis->out - axis->before, axis->in);
      inside &= from >= 0;
      at += from * stride;
      rest /= axis->out;
      stride *= axis->in;
    }
    result.value.push_back(inside ? x[static_cast<size_t>(at)]
                                  : static_cast<float>(values.scalars.find("value")->second));
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"pad", roles, reference};

}  // namespace clvet::op_contract_pad
