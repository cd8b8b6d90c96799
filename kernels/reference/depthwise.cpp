#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"

namespace clvet::op_contract_depthwise {
namespace {

// One KH x KW filter a channel; weights [taps][1][C], rows are the taps themselves.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("depthwise", dims));
  const Window window(dims);
  TensorRole weights{.name = "w",
                     .kind = TensorKind::kWeights,
                     .taps = window.kh * window.kw,
                     .cout = window.c,
                     .pad_cin = false};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = window.c};
  return std::vector<TensorRole>{window.input(), weights, bias, window.output(window.c)};
}

ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const auto channels = static_cast<size_t>(window.c);
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = window.kh * window.kw + 1;
  for (int64_t pixel = 0; pixel < window.outputs(); ++pixel) {
    RowSums sums(bias);
    window.each(pixel, [&](int64_t tap, int64_t at) {
      for (size_t c = 0; c < channels; ++c) {
        sums.add(c, x[static_cast<size_t>(at) + c] * w[static_cast<size_t>(tap) * channels + c]);
      }
    });
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"depthwise", roles, reference};

}  // namespace clvet::op_contract_depthwise
