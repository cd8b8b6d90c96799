#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_rms_norm {
namespace {

// y[r, c] = x[r, c] * scale[c] / sqrt(mean(x[r]^2) + epsilon). In float at every precision: values
// of 3e4 are common, and their squares are beyond half's range. Rows as in softmax.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Rows::check("rms_norm", dims));
  const Rows rows(dims);
  TensorRole scale{.name = "scale", .kind = TensorKind::kVector, .c = rows.c};
  return std::vector<TensorRole>{rows.input(), scale, rows.output(rows.c)};
}

ReferenceResult reference(const CallValues& values) {
  const Rows rows(values.dims);
  const double epsilon = static_cast<float>(values.scalars.find("epsilon")->second);
  const auto length = static_cast<size_t>(rows.c);
  const double n = static_cast<double>(rows.c);
  const double* x = values.tensors.find("x")->second.data();
  const Values& scale = values.tensors.find("scale")->second;
  ReferenceResult result;
  result.in_float = true;
  for (int64_t r = 0; r < rows.m; ++r, x += length) {
    const double factor = rms_factor(std::span(x, length), epsilon);
    for (size_t c = 0; c < length; ++c) {
      const double y = x[c] * factor * scale[c];
      result.value.push_back(y);
      result.sensitivity.push_back(factor * std::fabs(scale[c]));
      result.functions.push_back(std::fabs(y) * roundoffs_of_rms(n));
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"rms_norm", roles, reference};

}  // namespace clvet::op_contract_rms_norm
