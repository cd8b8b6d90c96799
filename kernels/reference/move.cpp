#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_move {
namespace {

// y[r, c] = x[r', c']: elements moved. x is {n, h, w, C}, y {ON, OH, OW, OC}. A row r of y (n, h
// and w in one number) is split into indices i0..i3 of the extents E0..E3, outermost first, its
// channel c into j0..j2 of F0..F2; the product of the E is the number of rows, that of the F is OC.
//   r' = row0 + sum i_k * R_k + sum j_k * RF_k,   c' = channel0 + sum i_k * Q_k + sum j_k * QF_k
constexpr std::array kRowExtents = {"E0", "E1", "E2", "E3"};
constexpr std::array kRowSteps = {"R0", "R1", "R2", "R3", "RF0", "RF1", "RF2"};
constexpr std::array kChannelExtents = {"F0", "F1", "F2"};
constexpr std::array kChannelSteps = {"Q0", "Q1", "Q2", "Q3", "QF0", "QF1", "QF2"};

struct Axis {
  int64_t extent, rows, channels;
};

std::array<Axis, 7> axes_of(const Dims& dims) {
  std::array<Axis, 7> axes{};
  for (size_t i = 0; i < axes.size(); ++i) {
    const char* extent = i < 4 ? kRowExtents[i] : kChannelExtents[i - 4];
    axes[i] = {dim(dims, extent), dim_or(dims, kRowSteps[i], 0), dim_or(dims, kChannelSteps[i], 0)};
  }
  return axes;
}

// Lowest and highest value that a sum of steps reaches.
bool within(const std::array<Axis, 7>& axes, int64_t start, int64_t Axis::*step, int64_t extent) {
  int64_t low = start, high = start;
  for (const Axis& axis : axes) {
    const int64_t reach = (axis.extent - 1) * (axis.*step);
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high < extent;
}

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(need_positive("move", dims, kExtents));
  CLVET_RETURN_IF_ERROR(need_positive("move", dims, kOutExtents));
  CLVET_RETURN_IF_ERROR(need_positive("move", dims, kRowExtents));
  CLVET_RETURN_IF_ERROR(need_positive("move", dims, kChannelExtents));
  const TensorRole x = role_of(dims, "x", TensorKind::kInput);
  const TensorRole y = role_of(dims, "y", TensorKind::kOutput, kOutExtents);
  const auto axes = axes_of(dims);
  int64_t rows = 1, channels = 1;
  for (size_t i = 0; i < axes.size(); ++i) (i < 4 ? rows : channels) *= axes[i].extent;
  if (rows != y.n * y.h * y.w || channels != y.c) {
    return fail(
        ErrorCode::kInvalidArgument,
        "move: the output has {} rows of {} channels, but the axes give {} rows of {} channels",
        y.n * y.h * y.w, y.c, rows, channels);
  }
  if (!within(axes, dim_or(dims, "row0", 0), &Axis::rows, x.n * x.h * x.w) ||
      !within(axes, dim_or(dims, "channel0", 0), &Axis::channels, x.c)) {
    return fail(ErrorCode::kInvalidArgument, "move: the steps lead out of the input");
  }
  return std::vector<TensorRole>{x, y};
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const auto axes = axes_of(d);
  const Values& x = values.tensors.find("x")->second;
  const int64_t c = dim(d, "C"), row0 = dim_or(d, "row0", 0), channel0 = dim_or(d, "channel0", 0);
  ReferenceResult result;
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, row = row0, channel = channel0;
    for (size_t k = axes.size(); k-- > 0; rest /= axes[k].extent) {
      row += rest % axes[k].extent * axes[k].rows;
      channel += rest % axes[k].extent * axes[k].channels;
    }
    result.value.push_back(x[static_cast<size_t>(row * c + channel)]);
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"move", roles, reference};

}  // namespace clvet::op_contract_move
