#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_layer_norm {
namespace {

// y[r, c] = (x[r, c] - mean) / sqrt(variance + epsilon) * scale[c] + bias[c], mean and variance
// over row r. rms = 1: the mean counts as 0, the variance is the mean of the squares. In float at
// every precision; rows as in softmax.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Rows::check("layer_norm", dims));
  if (const int64_t rms = dim_or(dims, "rms", -1); rms != 0 && rms != 1) {
    return fail(ErrorCode::kInvalidArgument, "layer_norm: rms = {} is neither 0 nor 1", rms);
  }
  const Rows rows(dims);
  TensorRole scale{.name = "scale", .kind = TensorKind::kVector, .c = rows.c};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = rows.c};
  return std::vector<TensorRole>{rows.input(), scale, bias, rows.output(rows.c)};
}

struct Moments {
  double mean = 0, mean_error = 0;  // error in roundoffs
  double variance = 0;
};

// The mean is a sum of signed terms (see kernels/tolerance.h), and divided.
Moments moments_of(const double* row, size_t length, bool rms) {
  const double n = static_cast<double>(length);
  double sum = 0, squares = 0, spread = 0;
  for (size_t i = 0; i < length; ++i) sum += row[i], squares += row[i] * row[i];
  if (rms) return {0, 0, squares / n};
  const double mean = sum / n;
  for (size_t i = 0; i < length; ++i) spread += (row[i] - mean) * (row[i] - mean);
  const double walk = (6 * std::sqrt(n / 2) + 3) * std::sqrt(squares) / n;
  return {mean, walk + 3 * std::fabs(mean), spread / n};
}

// An error of the mean moves the variance in second order alone. The variance is a sum of terms of
// one sign: walk roundoffs, halved by the root; division, root and the rounding of each deviation
// take up to 16.
ReferenceResult reference(const CallValues& values) {
  const Rows rows(values.dims);
  const bool rms = dim(values.dims, "rms") == 1;
  const double epsilon = static_cast<float>(values.scalars.find("epsilon")->second);
  const auto length = static_cast<size_t>(rows.c);
  const double n = static_cast<double>(rows.c);
  const double walk = std::min(n + 3, 6 * std::sqrt(n / 3) + 3);
  const double* x = values.tensors.find("x")->second.data();
  const Values& scale = values.tensors.find("scale")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.in_float = true;
  for (int64_t r = 0; r < rows.m; ++r, x += length) {
    const Moments moments = moments_of(x, length, rms);
    const double factor = 1 / std::sqrt(moments.variance + epsilon);
    for (size_t c = 0; c < length; ++c) {
      const double z = (x[c] - moments.mean) * factor * scale[c];
      const double moved = moments.mean_error * factor * std::fabs(scale[c]);
      result.value.push_back(z + bias[c]);
      result.functions.push_back(moved + std::fabs(z) * (walk / 2 + 16) + std::fabs(z + bias[c]));
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"layer_norm", roles, reference};

}  // namespace clvet::op_contract_layer_norm
