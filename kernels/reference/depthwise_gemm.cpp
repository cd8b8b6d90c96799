#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/reference/window.h"
#include "kernels/tolerance.h"

namespace clvet::op_contract_depthwise_gemm {
namespace {

// A depthwise convolution and the product of its pixels: y = act(middle * w[C, OC] + bias), where
// middle = middle_act(depthwise(x, taps) + middle_bias). With add = 1 r is added before act;
// without it r is not read, and has the shape of x. `taps` has a row of C values for each tap, C
// rounded up to a multiple of 16; what stands behind counts for nothing. In float between x, r and
// y at every precision.
size_t pitch_of(const Window& window) {
  return static_cast<size_t>(round_up(window.c, int64_t{16}));
}

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Window::check("depthwise_gemm", dims));
  constexpr std::array names = {"OC"};
  CLVET_RETURN_IF_ERROR(need_positive("depthwise_gemm", dims, names));
  const Window window(dims);
  const int64_t channels = dim(dims, "OC");
  const TensorRole y = window.output(channels);
  TensorRole r = dim_or(dims, "add", 0) == 1 ? y : window.input();
  r.name = "r";
  r.kind = TensorKind::kInput;
  const auto vector = [](const char* name, int64_t count) {
    return TensorRole{.name = name, .kind = TensorKind::kVector, .c = count};
  };
  return std::vector<TensorRole>{
      window.input(),
      r,
      {.name = "w", .kind = TensorKind::kWeights, .cin = window.c, .cout = channels},
      vector("taps", window.kh * window.kw * static_cast<int64_t>(pitch_of(window))),
      vector("middle_bias", window.c),
      vector("bias", channels),
      y};
}

// The middle of one pixel, and how far a kernel's may be off, in roundoffs.
struct Middle {
  Values value, error;
};

Middle middle_of(const CallValues& values, const Window& window, int64_t pixel) {
  const Values& x = values.tensors.find("x")->second;
  const Values& taps = values.tensors.find("taps")->second;
  const Epilogue act = epilogue_of(values, "middle_");
  const size_t pitch = pitch_of(window);
  RowSums sums(values.tensors.find("middle_bias")->second);
  const size_t channels = sums.sum.size();
  window.each(pixel, [&](int64_t tap, int64_t at) {
    for (size_t c = 0; c < channels; ++c)
      sums.add(c, x[static_cast<size_t>(at) + c] * taps[static_cast<size_t>(tap) * pitch + c]);
  });
  const double of_sum = roundoffs_of_sum(static_cast<double>(window.kh * window.kw + 1));
  Middle middle;
  for (size_t c = 0; c < channels; ++c) {
    const double z = sums.sum[c];
    const double of_z = std::isfinite(z) ? of_sum * std::sqrt(sums.squares[c]) : 0;
    middle.value.push_back(apply_act(act.act, act.lo, act.hi, z));
    middle.error.push_back(act_sensitivity(act, z, std::ldexp(of_z, -24)) * of_z +
                           act_row(act.act).error(z, act.lo, act.hi));
  }
  return middle;
}

// The errors of the middle are as independent as those of the sum's own terms, and add up like
// them.
ReferenceResult reference(const CallValues& values) {
  const Window window(values.dims);
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  const Values& r = values.tensors.find("r")->second;
  const size_t outputs = bias.size();
  const bool add = dim_or(values.dims, "add", 0) == 1;
  Values inherited;
  ReferenceResult result;
  result.in_float = true;
  result.reduction = window.c + 1 + (add ? 1 : 0);
  result.products =
      static_cast<double>(window.c) +
      static_cast<double>(window.c * window.kh * window.kw) / static_cast<double>(outputs);
  for (int64_t pixel = 0; pixel < window.outputs(); ++pixel) {
    const Middle middle = middle_of(values, window, pixel);
    RowSums sums(bias);
    Values squares(outputs, 0);
    for (size_t c = 0; c < middle.value.size(); ++c) {
      for (size_t o = 0; o < outputs; ++o) {
        const double weight = w[c * outputs + o], error = middle.error[c] * weight;
        sums.add(o, middle.value[c] * weight);
        squares[o] += error * error;
      }
    }
    for (size_t o = 0; add && o < outputs; ++o)
      sums.add(o, r[static_cast<size_t>(pixel) * outputs + o]);
    sums.append_to(result);
    for (const double square : squares) inherited.push_back(std::sqrt(square));
  }
  apply_epilogue(epilogue_of(values), result);
  result.functions.resize(inherited.size());
  for (size_t i = 0; i < inherited.size(); ++i) {
    const double slope = result.sensitivity.empty() ? 1 : result.sensitivity[i];
    result.functions[i] += slope * inherited[i];
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"depthwise_gemm", roles, reference};

}  // namespace clvet::op_contract_depthwise_gemm
